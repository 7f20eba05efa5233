BEGIN TRANSACTION;
CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    call_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    by_whom TEXT NOT NULL,
    expires DOUBLE PRECISION NOT NULL
);
INSERT INTO "approvals" VALUES('7c0943a148a0476e98238b42b197b739','f2fc255f15934d678363330e19c18a56',1,'1e2cd46b5f999bf75f3e40ccc3b16871b358742a4ad821180ef0bdf2a1eb5892','pending','',1.79667589339229798314e+09);
INSERT INTO "approvals" VALUES('09cbf51d923444d8b0d7b90781802dde','e0c1e9084f504e1aa2de9a1c11aca744',1,'c13edf467e94c63ab5f884c60b87a7e5ae6d645bb7414cf1d4c6c3d4c0861edb','approved','a-person',1.79667589397638154027e+09);
INSERT INTO "approvals" VALUES('3d2f088e2360404d8cb43b0fa53080af','4f41444d609e41f2ab0cbd2bc2aa24ac',1,'bd9b221857bee89048356fc7b230f75f5f77bca4cdc6d89560d91a0e9c3a1bf6','refused','a-person',1.79667589587180280682e+09);
INSERT INTO "approvals" VALUES('32ed4a78fe084dfd9001fbc9890c4760','cc98818060a9418ba095677ffd825962',1,'083ed2c1d9d3a033e4dad8b959c8cdf1c5dc6a9f5ad816a1d9227c0a95942684','approved','a-person',1.79667589787296485895e+09);
INSERT INTO "approvals" VALUES('8a7088c9537c4cb3a65d825073338626','682ab81ec7854dee9854ac02451f2f13',1,'75fc6eb478ffe08e6e2ad56de1e334729a9b21d3df4b2023eb58b6d0672109a0','approved','a-person',1796675901.56842);
CREATE TABLE deliveries (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    status INTEGER NOT NULL,
    thread_id TEXT NOT NULL,
    events BIGINT NOT NULL,
    answer TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
CREATE TABLE effects (
    key TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    call_hash TEXT NOT NULL,
    call TEXT NOT NULL,
    once TEXT,
    state TEXT NOT NULL,
    result TEXT,
    at DOUBLE PRECISION NOT NULL
);
INSERT INTO "effects" VALUES('e0c1e9084f504e1aa2de9a1c11aca744:1','e0c1e9084f504e1aa2de9a1c11aca744',1,'c13edf467e94c63ab5f884c60b87a7e5ae6d645bb7414cf1d4c6c3d4c0861edb','process_refund(order_id="A-2", amount=12.5, reason="it arrived broken")','the refund of order a-2','done','"refund 12.5 for order A-2 processed"',1.7960710951961228847e+09);
INSERT INTO "effects" VALUES('682ab81ec7854dee9854ac02451f2f13:1','682ab81ec7854dee9854ac02451f2f13',1,'75fc6eb478ffe08e6e2ad56de1e334729a9b21d3df4b2023eb58b6d0672109a0','process_refund(order_id="A-5", amount=12.5, reason="it arrived broken")','the refund of order a-5','unknown','"ConnectionError: the line is down"',1.79607110281152248382e+09);
CREATE TABLE events (
    thread_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    version INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    meta TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (thread_id, seq)
);
INSERT INTO "events" VALUES('82dbc0bc06b64a4386bb5bc87ed6670d',0,1,'user_input','{"text": "multiply 3 and 4, then divide the result by 2 and then add 12 to that result"}','{}','2026-11-30T20:38:09.970+00:00');
INSERT INTO "events" VALUES('82dbc0bc06b64a4386bb5bc87ed6670d',1,1,'tool_call','{"intent": "multiply", "a": 3, "b": 4}','{"client": "offline", "milliseconds": 20, "tokens": null}','2026-11-30T20:38:09.995+00:00');
INSERT INTO "events" VALUES('82dbc0bc06b64a4386bb5bc87ed6670d',2,1,'tool_response','{"call": 1, "result": 12}','{}','2026-11-30T20:38:09.996+00:00');
INSERT INTO "events" VALUES('82dbc0bc06b64a4386bb5bc87ed6670d',3,1,'tool_call','{"intent": "divide", "a": 12, "b": 2}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T20:38:09.998+00:00');
INSERT INTO "events" VALUES('82dbc0bc06b64a4386bb5bc87ed6670d',4,1,'tool_response','{"call": 3, "result": 6}','{}','2026-11-30T20:38:09.998+00:00');
INSERT INTO "events" VALUES('82dbc0bc06b64a4386bb5bc87ed6670d',5,1,'tool_call','{"intent": "add", "a": 12, "b": 6}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T20:38:10.000+00:00');
INSERT INTO "events" VALUES('82dbc0bc06b64a4386bb5bc87ed6670d',6,1,'tool_response','{"call": 5, "result": 18}','{}','2026-11-30T20:38:10.001+00:00');
INSERT INTO "events" VALUES('82dbc0bc06b64a4386bb5bc87ed6670d',7,1,'tool_call','{"intent": "done_for_now", "message": "18"}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T20:38:10.003+00:00');
INSERT INTO "events" VALUES('12a5f4ddf4814847977c7ca09854bc6a',0,1,'user_input','{"text": "can you do some math for me?"}','{}','2026-11-30T20:38:10.570+00:00');
INSERT INTO "events" VALUES('12a5f4ddf4814847977c7ca09854bc6a',1,1,'tool_call','{"intent": "request_more_information", "message": "Which numbers, and should I add, subtract, multiply or divide them?"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T20:38:10.580+00:00');
INSERT INTO "events" VALUES('97d941e24df54751a6db0967a1c5dc06',0,1,'user_input','{"text": "do some math"}','{}','2026-11-30T20:38:11.676+00:00');
INSERT INTO "events" VALUES('97d941e24df54751a6db0967a1c5dc06',1,1,'tool_call','{"intent": "request_more_information", "message": "Which numbers, and should I add, subtract, multiply or divide them?"}','{"client": "offline", "milliseconds": 6, "tokens": null}','2026-11-30T20:38:11.689+00:00');
INSERT INTO "events" VALUES('97d941e24df54751a6db0967a1c5dc06',2,1,'human_response','{"call": 1, "text": "3 plus 4"}','{}','2026-11-30T20:38:12.772+00:00');
INSERT INTO "events" VALUES('97d941e24df54751a6db0967a1c5dc06',3,1,'tool_call','{"intent": "add", "a": 3, "b": 4}','{"client": "offline", "milliseconds": 20, "tokens": null}','2026-11-30T20:38:12.797+00:00');
INSERT INTO "events" VALUES('97d941e24df54751a6db0967a1c5dc06',4,1,'tool_response','{"call": 3, "result": 7}','{}','2026-11-30T20:38:12.798+00:00');
INSERT INTO "events" VALUES('97d941e24df54751a6db0967a1c5dc06',5,1,'tool_call','{"intent": "done_for_now", "message": "7"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T20:38:12.800+00:00');
INSERT INTO "events" VALUES('f2fc255f15934d678363330e19c18a56',0,1,'user_input','{"text": "refund order A-1, $12.50, it arrived broken"}','{}','2026-11-30T20:38:13.382+00:00');
INSERT INTO "events" VALUES('f2fc255f15934d678363330e19c18a56',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-1", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T20:38:13.391+00:00');
INSERT INTO "events" VALUES('e0c1e9084f504e1aa2de9a1c11aca744',0,1,'user_input','{"text": "refund order A-2, $12.50, it arrived broken"}','{}','2026-11-30T20:38:13.966+00:00');
INSERT INTO "events" VALUES('e0c1e9084f504e1aa2de9a1c11aca744',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-2", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T20:38:13.976+00:00');
INSERT INTO "events" VALUES('e0c1e9084f504e1aa2de9a1c11aca744',2,1,'approval','{"call": 1, "approval_id": "09cbf51d923444d8b0d7b90781802dde", "approved": true, "by": "a-person", "comment": ""}','{}','2026-11-30T20:38:15.178+00:00');
INSERT INTO "events" VALUES('e0c1e9084f504e1aa2de9a1c11aca744',3,1,'tool_response','{"call": 1, "result": "refund 12.5 for order A-2 processed"}','{}','2026-11-30T20:38:15.196+00:00');
INSERT INTO "events" VALUES('e0c1e9084f504e1aa2de9a1c11aca744',4,1,'tool_call','{"intent": "done_for_now", "message": "refund 12.5 for order A-2 processed"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T20:38:15.198+00:00');
INSERT INTO "events" VALUES('4f41444d609e41f2ab0cbd2bc2aa24ac',0,1,'user_input','{"text": "refund order A-3, $12.50, it arrived broken"}','{}','2026-11-30T20:38:15.858+00:00');
INSERT INTO "events" VALUES('4f41444d609e41f2ab0cbd2bc2aa24ac',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-3", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 5, "tokens": null}','2026-11-30T20:38:15.871+00:00');
INSERT INTO "events" VALUES('4f41444d609e41f2ab0cbd2bc2aa24ac',2,1,'approval','{"call": 1, "approval_id": "3d2f088e2360404d8cb43b0fa53080af", "approved": false, "by": "a-person", "comment": "too late"}','{}','2026-11-30T20:38:17.215+00:00');
INSERT INTO "events" VALUES('4f41444d609e41f2ab0cbd2bc2aa24ac',3,1,'tool_call','{"intent": "done_for_now", "message": "It was not approved: too late"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T20:38:17.222+00:00');
INSERT INTO "events" VALUES('cc98818060a9418ba095677ffd825962',0,1,'user_input','{"text": "refund order A-4, $12.50, it arrived broken"}','{}','2026-11-30T20:38:17.862+00:00');
INSERT INTO "events" VALUES('cc98818060a9418ba095677ffd825962',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-4", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T20:38:17.872+00:00');
INSERT INTO "events" VALUES('cc98818060a9418ba095677ffd825962',2,1,'approval','{"call": 1, "approval_id": "32ed4a78fe084dfd9001fbc9890c4760", "approved": true, "by": "a-person", "comment": ""}','{}','2026-11-30T20:38:19.042+00:00');
INSERT INTO "events" VALUES('cc98818060a9418ba095677ffd825962',3,1,'tool_response','{"call": 1, "result": "dry run: process_refund(order_id=\"A-4\", amount=12.5, reason=\"it arrived broken\") would be done; nothing was done"}','{}','2026-11-30T20:38:19.050+00:00');
INSERT INTO "events" VALUES('cc98818060a9418ba095677ffd825962',4,1,'tool_call','{"intent": "done_for_now", "message": "dry run: process_refund(order_id=\"A-4\", amount=12.5, reason=\"it arrived broken\") would be done; nothing was done"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T20:38:19.051+00:00');
INSERT INTO "events" VALUES('2feb0e04fb0349e2bbc5c80ee156df6d',0,1,'user_input','{"text": "divide 1 by 0"}','{}','2026-11-30T20:38:19.642+00:00');
INSERT INTO "events" VALUES('2feb0e04fb0349e2bbc5c80ee156df6d',1,1,'tool_call','{"intent": "divide", "a": 1, "b": 0}','{"client": "offline", "milliseconds": 26, "tokens": null}','2026-11-30T20:38:19.676+00:00');
INSERT INTO "events" VALUES('2feb0e04fb0349e2bbc5c80ee156df6d',2,1,'error','{"call": 1, "type": "ToolError", "message": "division by zero"}','{}','2026-11-30T20:38:19.676+00:00');
INSERT INTO "events" VALUES('2feb0e04fb0349e2bbc5c80ee156df6d',3,1,'tool_call','{"intent": "done_for_now", "message": "That did not work: division by zero."}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T20:38:19.678+00:00');
INSERT INTO "events" VALUES('4469275399e74df7b06db3bfc0da8c6d',0,1,'user_input','{"text": "hello 👩‍💻 </user_input> \u001b[2J é"}','{}','2026-11-30T20:38:20.264+00:00');
INSERT INTO "events" VALUES('4469275399e74df7b06db3bfc0da8c6d',1,1,'tool_call','{"intent": "done_for_now", "message": "Hello! I am a set of rules, not a language model. I do arithmetic, as in: multiply 3 and 4, then add 12. And refunds, as in: refund order A-17, $12.50, it arrived broken."}','{"client": "offline", "milliseconds": 5, "tokens": null}','2026-11-30T20:38:20.275+00:00');
INSERT INTO "events" VALUES('d82a431933f24a7b8dc07bc4b7b37456',0,1,'user_input','{"text": "add 3 and 4, then add 5"}','{}','2026-11-30T20:38:20.888+00:00');
INSERT INTO "events" VALUES('d82a431933f24a7b8dc07bc4b7b37456',1,1,'tool_call','{"intent": "add", "a": 3, "b": 4}','{"client": "offline", "milliseconds": 21, "tokens": null}','2026-11-30T20:38:20.915+00:00');
INSERT INTO "events" VALUES('d82a431933f24a7b8dc07bc4b7b37456',2,1,'tool_response','{"call": 1, "result": 7}','{}','2026-11-30T20:38:20.916+00:00');
INSERT INTO "events" VALUES('d82a431933f24a7b8dc07bc4b7b37456',3,1,'failed','{"type": "step_limit", "message": "1 steps without an end"}','{}','2026-11-30T20:38:20.917+00:00');
INSERT INTO "events" VALUES('682ab81ec7854dee9854ac02451f2f13',0,1,'user_input','{"text": "refund order A-5, $12.50, it arrived broken"}','{}','2026-11-30T20:38:21.557+00:00');
INSERT INTO "events" VALUES('682ab81ec7854dee9854ac02451f2f13',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-5", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T20:38:21.568+00:00');
INSERT INTO "events" VALUES('682ab81ec7854dee9854ac02451f2f13',2,1,'approval','{"call": 1, "approval_id": "8a7088c9537c4cb3a65d825073338626", "approved": true, "by": "a-person", "comment": ""}','{}','2026-11-30T20:38:22.798+00:00');
CREATE TABLE refunds (
    order_id TEXT PRIMARY KEY,
    amount TEXT NOT NULL,
    reason TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    at DOUBLE PRECISION NOT NULL
);
INSERT INTO "refunds" VALUES('a-2','12.5','it arrived broken','e0c1e9084f504e1aa2de9a1c11aca744:1',1.79607109519417643553e+09);
CREATE TABLE threads (
    id TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    summary TEXT NOT NULL,
    title TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    lease_until DOUBLE PRECISION NOT NULL,
    created DOUBLE PRECISION NOT NULL
);
INSERT INTO "threads" VALUES('82dbc0bc06b64a4386bb5bc87ed6670d','done','{"id": "82dbc0bc06b64a4386bb5bc87ed6670d", "status": "done", "title": "multiply 3 and 4, then divide the result by 2 and then add 12 to that result", "at": "2026-11-30T20:38:10.003+00:00", "answer": "18", "pending": null, "failure": null}','multiply 3 and 4, then divide the result by 2 and then add 12 to that result',1,0.0,1.79607108996963477131e+09);
INSERT INTO "threads" VALUES('12a5f4ddf4814847977c7ca09854bc6a','waiting','{"id": "12a5f4ddf4814847977c7ca09854bc6a", "status": "waiting", "title": "can you do some math for me?", "at": "2026-11-30T20:38:10.580+00:00", "answer": null, "pending": {"kind": "question", "message": "Which numbers, and should I add, subtract, multiply or divide them?"}, "failure": null}','can you do some math for me?',1,0.0,1.79607109056998968119e+09);
INSERT INTO "threads" VALUES('97d941e24df54751a6db0967a1c5dc06','done','{"id": "97d941e24df54751a6db0967a1c5dc06", "status": "done", "title": "do some math", "at": "2026-11-30T20:38:12.800+00:00", "answer": "7", "pending": null, "failure": null}','do some math',2,0.0,1.79607109167650938032e+09);
INSERT INTO "threads" VALUES('f2fc255f15934d678363330e19c18a56','waiting','{"id": "f2fc255f15934d678363330e19c18a56", "status": "waiting", "title": "refund order A-1, $12.50, it arrived broken", "at": "2026-11-30T20:38:13.391+00:00", "answer": null, "pending": {"kind": "approval", "approval_id": "7c0943a148a0476e98238b42b197b739", "call": {"intent": "process_refund", "order_id": "A-1", "amount": 12.5, "reason": "it arrived broken"}, "call_hash": "1e2cd46b5f999bf75f3e40ccc3b16871b358742a4ad821180ef0bdf2a1eb5892", "text": "process_refund(order_id=\"A-1\", amount=12.5, reason=\"it arrived broken\")", "earlier": null, "expires": "2026-12-07T20:38:13.392+00:00"}, "failure": null}','refund order A-1, $12.50, it arrived broken',1,0.0,1.79607109338166904448e+09);
INSERT INTO "threads" VALUES('e0c1e9084f504e1aa2de9a1c11aca744','done','{"id": "e0c1e9084f504e1aa2de9a1c11aca744", "status": "done", "title": "refund order A-2, $12.50, it arrived broken", "at": "2026-11-30T20:38:15.198+00:00", "answer": "refund 12.5 for order A-2 processed", "pending": null, "failure": null}','refund order A-2, $12.50, it arrived broken',2,0.0,1.7960710939656555653e+09);
INSERT INTO "threads" VALUES('4f41444d609e41f2ab0cbd2bc2aa24ac','done','{"id": "4f41444d609e41f2ab0cbd2bc2aa24ac", "status": "done", "title": "refund order A-3, $12.50, it arrived broken", "at": "2026-11-30T20:38:17.222+00:00", "answer": "It was not approved: too late", "pending": null, "failure": null}','refund order A-3, $12.50, it arrived broken',2,0.0,1.79607109585833430286e+09);
INSERT INTO "threads" VALUES('cc98818060a9418ba095677ffd825962','done','{"id": "cc98818060a9418ba095677ffd825962", "status": "done", "title": "refund order A-4, $12.50, it arrived broken", "at": "2026-11-30T20:38:19.051+00:00", "answer": "dry run: process_refund(order_id=\"A-4\", amount=12.5, reason=\"it arrived broken\") would be done; nothing was done", "pending": null, "failure": null}','refund order A-4, $12.50, it arrived broken',2,0.0,1.79607109786183285712e+09);
INSERT INTO "threads" VALUES('2feb0e04fb0349e2bbc5c80ee156df6d','done','{"id": "2feb0e04fb0349e2bbc5c80ee156df6d", "status": "done", "title": "divide 1 by 0", "at": "2026-11-30T20:38:19.678+00:00", "answer": "That did not work: division by zero.", "pending": null, "failure": null}','divide 1 by 0',1,0.0,1.79607109964225864408e+09);
INSERT INTO "threads" VALUES('4469275399e74df7b06db3bfc0da8c6d','done','{"id": "4469275399e74df7b06db3bfc0da8c6d", "status": "done", "title": "hello 👩‍💻 </user_input> \u001b[2J é", "at": "2026-11-30T20:38:20.275+00:00", "answer": "Hello! I am a set of rules, not a language model. I do arithmetic, as in: multiply 3 and 4, then add 12. And refunds, as in: refund order A-17, $12.50, it arrived broken.", "pending": null, "failure": null}','hello 👩‍💻 </user_input> [2J é',1,0.0,1.79607110026436114311e+09);
INSERT INTO "threads" VALUES('d82a431933f24a7b8dc07bc4b7b37456','failed','{"id": "d82a431933f24a7b8dc07bc4b7b37456", "status": "failed", "title": "add 3 and 4, then add 5", "at": "2026-11-30T20:38:20.917+00:00", "answer": null, "pending": null, "failure": {"type": "step_limit", "message": "1 steps without an end"}}','add 3 and 4, then add 5',1,0.0,1.79607110088829827307e+09);
INSERT INTO "threads" VALUES('682ab81ec7854dee9854ac02451f2f13','waiting','{"id": "682ab81ec7854dee9854ac02451f2f13", "status": "waiting", "title": "refund order A-5, $12.50, it arrived broken", "at": "2026-11-30T20:38:22.798+00:00", "answer": null, "pending": {"kind": "outcome", "effect_key": "682ab81ec7854dee9854ac02451f2f13:1", "call": {"intent": "process_refund", "order_id": "A-5", "amount": 12.5, "reason": "it arrived broken"}, "call_hash": "75fc6eb478ffe08e6e2ad56de1e334729a9b21d3df4b2023eb58b6d0672109a0", "text": "process_refund(order_id=\"A-5\", amount=12.5, reason=\"it arrived broken\")", "problem": "ConnectionError: the line is down"}, "failure": null}','refund order A-5, $12.50, it arrived broken',2,0.0,1.79607110155729770661e+09);
CREATE INDEX threads_by_status ON threads (status, lease_until);
CREATE UNIQUE INDEX one_pending_approval ON approvals (thread_id, seq) WHERE status = 'pending';
CREATE UNIQUE INDEX effects_once ON effects (once) WHERE state IN ('started', 'unknown', 'done')
;
CREATE INDEX deliveries_by_time ON deliveries (at);
CREATE INDEX threads_by_time ON threads (created)
;
COMMIT;
PRAGMA user_version = 2;
