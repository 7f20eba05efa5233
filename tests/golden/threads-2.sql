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
INSERT INTO "approvals" VALUES('2c70c516bc9e4156a31f955c0fca4a99','161cd18f77d245d68f1d6cdbfd586c4e',1,'1e2cd46b5f999bf75f3e40ccc3b16871b358742a4ad821180ef0bdf2a1eb5892','pending','',1.79668174587305140487e+09);
INSERT INTO "approvals" VALUES('a47f42976e0c4ad1a0912f3eeea063f9','f25f0a42d08e4ec98f2299b14c88fd4c',1,'c13edf467e94c63ab5f884c60b87a7e5ae6d645bb7414cf1d4c6c3d4c0861edb','approved','a-person',1.79668174646807074544e+09);
INSERT INTO "approvals" VALUES('9d27cc9c4b11435a83f278451cc5012e','45cdafdb43df4eb59b2a23ee2ddaa60e',1,'bd9b221857bee89048356fc7b230f75f5f77bca4cdc6d89560d91a0e9c3a1bf6','refused','a-person',1.79668174834801435465e+09);
INSERT INTO "approvals" VALUES('c1b9adf529e04e91937a268c8965f428','9e1a654917d7417a8c487c114d6bed58',1,'083ed2c1d9d3a033e4dad8b959c8cdf1c5dc6a9f5ad816a1d9227c0a95942684','approved','a-person',1.7966817501471717358e+09);
INSERT INTO "approvals" VALUES('ddc901d20c0f4c4f9369a29631c2e45e','efe5be984f25441abed14f1363600d2c',1,'75fc6eb478ffe08e6e2ad56de1e334729a9b21d3df4b2023eb58b6d0672109a0','approved','a-person',1.7966817537825365066e+09);
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
, tries INTEGER NOT NULL DEFAULT 1);
INSERT INTO "effects" VALUES('f25f0a42d08e4ec98f2299b14c88fd4c:1','f25f0a42d08e4ec98f2299b14c88fd4c',1,'c13edf467e94c63ab5f884c60b87a7e5ae6d645bb7414cf1d4c6c3d4c0861edb','process_refund(order_id="A-2", amount=12.5, reason="it arrived broken")','the refund of order a-2','done','"refund 12.5 for order A-2 processed"',1.79607694771788072582e+09,1);
INSERT INTO "effects" VALUES('efe5be984f25441abed14f1363600d2c:1','efe5be984f25441abed14f1363600d2c',1,'75fc6eb478ffe08e6e2ad56de1e334729a9b21d3df4b2023eb58b6d0672109a0','process_refund(order_id="A-5", amount=12.5, reason="it arrived broken")','the refund of order a-5','unknown','"ConnectionError: the line is down"',1.79607695497558164602e+09,3);
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
INSERT INTO "events" VALUES('6bd0a0d0564f4c7c84f77c6b859ef5e6',0,1,'user_input','{"text": "multiply 3 and 4, then divide the result by 2 and then add 12 to that result"}','{}','2026-11-30T22:15:42.258+00:00');
INSERT INTO "events" VALUES('6bd0a0d0564f4c7c84f77c6b859ef5e6',1,1,'tool_call','{"intent": "multiply", "a": 3, "b": 4}','{"client": "offline", "milliseconds": 20, "tokens": null}','2026-11-30T22:15:42.283+00:00');
INSERT INTO "events" VALUES('6bd0a0d0564f4c7c84f77c6b859ef5e6',2,1,'tool_response','{"call": 1, "result": 12}','{}','2026-11-30T22:15:42.284+00:00');
INSERT INTO "events" VALUES('6bd0a0d0564f4c7c84f77c6b859ef5e6',3,1,'tool_call','{"intent": "divide", "a": 12, "b": 2}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T22:15:42.286+00:00');
INSERT INTO "events" VALUES('6bd0a0d0564f4c7c84f77c6b859ef5e6',4,1,'tool_response','{"call": 3, "result": 6}','{}','2026-11-30T22:15:42.287+00:00');
INSERT INTO "events" VALUES('6bd0a0d0564f4c7c84f77c6b859ef5e6',5,1,'tool_call','{"intent": "add", "a": 12, "b": 6}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T22:15:42.289+00:00');
INSERT INTO "events" VALUES('6bd0a0d0564f4c7c84f77c6b859ef5e6',6,1,'tool_response','{"call": 5, "result": 18}','{}','2026-11-30T22:15:42.290+00:00');
INSERT INTO "events" VALUES('6bd0a0d0564f4c7c84f77c6b859ef5e6',7,1,'tool_call','{"intent": "done_for_now", "message": "18"}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T22:15:42.292+00:00');
INSERT INTO "events" VALUES('5c8a2f17e24e440098126c2067ed97c3',0,1,'user_input','{"text": "can you do some math for me?"}','{}','2026-11-30T22:15:42.882+00:00');
INSERT INTO "events" VALUES('5c8a2f17e24e440098126c2067ed97c3',1,1,'tool_call','{"intent": "request_more_information", "message": "Which numbers, and should I add, subtract, multiply or divide them?"}','{"client": "offline", "milliseconds": 5, "tokens": null}','2026-11-30T22:15:42.892+00:00');
INSERT INTO "events" VALUES('fb882ec45fb24e27876e404631f446cb',0,1,'user_input','{"text": "do some math"}','{}','2026-11-30T22:15:44.064+00:00');
INSERT INTO "events" VALUES('fb882ec45fb24e27876e404631f446cb',1,1,'tool_call','{"intent": "request_more_information", "message": "Which numbers, and should I add, subtract, multiply or divide them?"}','{"client": "offline", "milliseconds": 5, "tokens": null}','2026-11-30T22:15:44.074+00:00');
INSERT INTO "events" VALUES('fb882ec45fb24e27876e404631f446cb',2,1,'human_response','{"call": 1, "text": "3 plus 4"}','{}','2026-11-30T22:15:45.248+00:00');
INSERT INTO "events" VALUES('fb882ec45fb24e27876e404631f446cb',3,1,'tool_call','{"intent": "add", "a": 3, "b": 4}','{"client": "offline", "milliseconds": 20, "tokens": null}','2026-11-30T22:15:45.274+00:00');
INSERT INTO "events" VALUES('fb882ec45fb24e27876e404631f446cb',4,1,'tool_response','{"call": 3, "result": 7}','{}','2026-11-30T22:15:45.276+00:00');
INSERT INTO "events" VALUES('fb882ec45fb24e27876e404631f446cb',5,1,'tool_call','{"intent": "done_for_now", "message": "7"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T22:15:45.277+00:00');
INSERT INTO "events" VALUES('161cd18f77d245d68f1d6cdbfd586c4e',0,1,'user_input','{"text": "refund order A-1, $12.50, it arrived broken"}','{}','2026-11-30T22:15:45.862+00:00');
INSERT INTO "events" VALUES('161cd18f77d245d68f1d6cdbfd586c4e',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-1", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 5, "tokens": null}','2026-11-30T22:15:45.872+00:00');
INSERT INTO "events" VALUES('f25f0a42d08e4ec98f2299b14c88fd4c',0,1,'user_input','{"text": "refund order A-2, $12.50, it arrived broken"}','{}','2026-11-30T22:15:46.457+00:00');
INSERT INTO "events" VALUES('f25f0a42d08e4ec98f2299b14c88fd4c',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-2", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T22:15:46.467+00:00');
INSERT INTO "events" VALUES('f25f0a42d08e4ec98f2299b14c88fd4c',2,1,'approval','{"call": 1, "approval_id": "a47f42976e0c4ad1a0912f3eeea063f9", "approved": true, "by": "a-person", "comment": ""}','{}','2026-11-30T22:15:47.703+00:00');
INSERT INTO "events" VALUES('f25f0a42d08e4ec98f2299b14c88fd4c',3,1,'tool_response','{"call": 1, "result": "refund 12.5 for order A-2 processed"}','{}','2026-11-30T22:15:47.718+00:00');
INSERT INTO "events" VALUES('f25f0a42d08e4ec98f2299b14c88fd4c',4,1,'tool_call','{"intent": "done_for_now", "message": "refund 12.5 for order A-2 processed"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T22:15:47.719+00:00');
INSERT INTO "events" VALUES('45cdafdb43df4eb59b2a23ee2ddaa60e',0,1,'user_input','{"text": "refund order A-3, $12.50, it arrived broken"}','{}','2026-11-30T22:15:48.337+00:00');
INSERT INTO "events" VALUES('45cdafdb43df4eb59b2a23ee2ddaa60e',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-3", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T22:15:48.347+00:00');
INSERT INTO "events" VALUES('45cdafdb43df4eb59b2a23ee2ddaa60e',2,1,'approval','{"call": 1, "approval_id": "9d27cc9c4b11435a83f278451cc5012e", "approved": false, "by": "a-person", "comment": "too late"}','{}','2026-11-30T22:15:49.532+00:00');
INSERT INTO "events" VALUES('45cdafdb43df4eb59b2a23ee2ddaa60e',3,1,'tool_call','{"intent": "done_for_now", "message": "It was not approved: too late"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T22:15:49.540+00:00');
INSERT INTO "events" VALUES('9e1a654917d7417a8c487c114d6bed58',0,1,'user_input','{"text": "refund order A-4, $12.50, it arrived broken"}','{}','2026-11-30T22:15:50.134+00:00');
INSERT INTO "events" VALUES('9e1a654917d7417a8c487c114d6bed58',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-4", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T22:15:50.146+00:00');
INSERT INTO "events" VALUES('9e1a654917d7417a8c487c114d6bed58',2,1,'approval','{"call": 1, "approval_id": "c1b9adf529e04e91937a268c8965f428", "approved": true, "by": "a-person", "comment": ""}','{}','2026-11-30T22:15:51.324+00:00');
INSERT INTO "events" VALUES('9e1a654917d7417a8c487c114d6bed58',3,1,'tool_response','{"call": 1, "result": "dry run: process_refund(order_id=\"A-4\", amount=12.5, reason=\"it arrived broken\") would be done; nothing was done"}','{}','2026-11-30T22:15:51.332+00:00');
INSERT INTO "events" VALUES('9e1a654917d7417a8c487c114d6bed58',4,1,'tool_call','{"intent": "done_for_now", "message": "dry run: process_refund(order_id=\"A-4\", amount=12.5, reason=\"it arrived broken\") would be done; nothing was done"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T22:15:51.333+00:00');
INSERT INTO "events" VALUES('eeadb4c659ea4ca28eceead7222abfdf',0,1,'user_input','{"text": "divide 1 by 0"}','{}','2026-11-30T22:15:51.918+00:00');
INSERT INTO "events" VALUES('eeadb4c659ea4ca28eceead7222abfdf',1,1,'tool_call','{"intent": "divide", "a": 1, "b": 0}','{"client": "offline", "milliseconds": 20, "tokens": null}','2026-11-30T22:15:51.944+00:00');
INSERT INTO "events" VALUES('eeadb4c659ea4ca28eceead7222abfdf',2,1,'error','{"call": 1, "type": "ToolError", "message": "division by zero"}','{}','2026-11-30T22:15:51.944+00:00');
INSERT INTO "events" VALUES('eeadb4c659ea4ca28eceead7222abfdf',3,1,'tool_call','{"intent": "done_for_now", "message": "That did not work: division by zero."}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T22:15:51.946+00:00');
INSERT INTO "events" VALUES('7fcdfc3354c147c0a9f70e5a8b725c8d',0,1,'user_input','{"text": "hello 👩‍💻 </user_input> \u001b[2J é"}','{}','2026-11-30T22:15:52.540+00:00');
INSERT INTO "events" VALUES('7fcdfc3354c147c0a9f70e5a8b725c8d',1,1,'tool_call','{"intent": "done_for_now", "message": "Hello! I am a set of rules, not a language model. I do arithmetic, as in: multiply 3 and 4, then add 12. And refunds, as in: refund order A-17, $12.50, it arrived broken."}','{"client": "offline", "milliseconds": 8, "tokens": null}','2026-11-30T22:15:52.556+00:00');
INSERT INTO "events" VALUES('018a2e458fd644ff8a9d9c440dcb4f4a',0,1,'user_input','{"text": "add 3 and 4, then add 5"}','{}','2026-11-30T22:15:53.150+00:00');
INSERT INTO "events" VALUES('018a2e458fd644ff8a9d9c440dcb4f4a',1,1,'tool_call','{"intent": "add", "a": 3, "b": 4}','{"client": "offline", "milliseconds": 20, "tokens": null}','2026-11-30T22:15:53.175+00:00');
INSERT INTO "events" VALUES('018a2e458fd644ff8a9d9c440dcb4f4a',2,1,'tool_response','{"call": 1, "result": 7}','{}','2026-11-30T22:15:53.176+00:00');
INSERT INTO "events" VALUES('018a2e458fd644ff8a9d9c440dcb4f4a',3,1,'failed','{"type": "step_limit", "message": "1 steps without an end"}','{}','2026-11-30T22:15:53.177+00:00');
INSERT INTO "events" VALUES('efe5be984f25441abed14f1363600d2c',0,1,'user_input','{"text": "refund order A-5, $12.50, it arrived broken"}','{}','2026-11-30T22:15:53.771+00:00');
INSERT INTO "events" VALUES('efe5be984f25441abed14f1363600d2c',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-5", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T22:15:53.782+00:00');
INSERT INTO "events" VALUES('efe5be984f25441abed14f1363600d2c',2,1,'approval','{"call": 1, "approval_id": "ddc901d20c0f4c4f9369a29631c2e45e", "approved": true, "by": "a-person", "comment": ""}','{}','2026-11-30T22:15:54.963+00:00');
CREATE TABLE refunds (
    order_id TEXT PRIMARY KEY,
    amount TEXT NOT NULL,
    reason TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    at DOUBLE PRECISION NOT NULL
);
INSERT INTO "refunds" VALUES('a-2','12.5','it arrived broken','f25f0a42d08e4ec98f2299b14c88fd4c:1',1.79607694771653342248e+09);
CREATE TABLE threads (
    id TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    summary TEXT NOT NULL,
    title TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    lease_until DOUBLE PRECISION NOT NULL,
    created DOUBLE PRECISION NOT NULL
);
INSERT INTO "threads" VALUES('6bd0a0d0564f4c7c84f77c6b859ef5e6','done','{"id": "6bd0a0d0564f4c7c84f77c6b859ef5e6", "status": "done", "title": "multiply 3 and 4, then divide the result by 2 and then add 12 to that result", "at": "2026-11-30T22:15:42.292+00:00", "answer": "18", "pending": null, "failure": null}','multiply 3 and 4, then divide the result by 2 and then add 12 to that result',1,0.0,1.79607694225839304921e+09);
INSERT INTO "threads" VALUES('5c8a2f17e24e440098126c2067ed97c3','waiting','{"id": "5c8a2f17e24e440098126c2067ed97c3", "status": "waiting", "title": "can you do some math for me?", "at": "2026-11-30T22:15:42.892+00:00", "answer": null, "pending": {"kind": "question", "message": "Which numbers, and should I add, subtract, multiply or divide them?", "seq": 1}, "failure": null}','can you do some math for me?',1,0.0,1.79607694288186717028e+09);
INSERT INTO "threads" VALUES('fb882ec45fb24e27876e404631f446cb','done','{"id": "fb882ec45fb24e27876e404631f446cb", "status": "done", "title": "do some math", "at": "2026-11-30T22:15:45.277+00:00", "answer": "7", "pending": null, "failure": null}','do some math',2,0.0,1.79607694406408095362e+09);
INSERT INTO "threads" VALUES('161cd18f77d245d68f1d6cdbfd586c4e','waiting','{"id": "161cd18f77d245d68f1d6cdbfd586c4e", "status": "waiting", "title": "refund order A-1, $12.50, it arrived broken", "at": "2026-11-30T22:15:45.872+00:00", "answer": null, "pending": {"kind": "approval", "approval_id": "2c70c516bc9e4156a31f955c0fca4a99", "call": {"intent": "process_refund", "order_id": "A-1", "amount": 12.5, "reason": "it arrived broken"}, "call_hash": "1e2cd46b5f999bf75f3e40ccc3b16871b358742a4ad821180ef0bdf2a1eb5892", "text": "process_refund(order_id=\"A-1\", amount=12.5, reason=\"it arrived broken\")", "earlier": null, "expires": "2026-12-07T22:15:45.873+00:00"}, "failure": null}','refund order A-1, $12.50, it arrived broken',1,0.0,1.79607694586164188385e+09);
INSERT INTO "threads" VALUES('f25f0a42d08e4ec98f2299b14c88fd4c','done','{"id": "f25f0a42d08e4ec98f2299b14c88fd4c", "status": "done", "title": "refund order A-2, $12.50, it arrived broken", "at": "2026-11-30T22:15:47.719+00:00", "answer": "refund 12.5 for order A-2 processed", "pending": null, "failure": null}','refund order A-2, $12.50, it arrived broken',2,0.0,1.79607694645676207543e+09);
INSERT INTO "threads" VALUES('45cdafdb43df4eb59b2a23ee2ddaa60e','done','{"id": "45cdafdb43df4eb59b2a23ee2ddaa60e", "status": "done", "title": "refund order A-3, $12.50, it arrived broken", "at": "2026-11-30T22:15:49.540+00:00", "answer": "It was not approved: too late", "pending": null, "failure": null}','refund order A-3, $12.50, it arrived broken',2,0.0,1.79607694833669090275e+09);
INSERT INTO "threads" VALUES('9e1a654917d7417a8c487c114d6bed58','done','{"id": "9e1a654917d7417a8c487c114d6bed58", "status": "done", "title": "refund order A-4, $12.50, it arrived broken", "at": "2026-11-30T22:15:51.333+00:00", "answer": "dry run: process_refund(order_id=\"A-4\", amount=12.5, reason=\"it arrived broken\") would be done; nothing was done", "pending": null, "failure": null}','refund order A-4, $12.50, it arrived broken',2,0.0,1.79607695013447189336e+09);
INSERT INTO "threads" VALUES('eeadb4c659ea4ca28eceead7222abfdf','done','{"id": "eeadb4c659ea4ca28eceead7222abfdf", "status": "done", "title": "divide 1 by 0", "at": "2026-11-30T22:15:51.946+00:00", "answer": "That did not work: division by zero.", "pending": null, "failure": null}','divide 1 by 0',1,0.0,1.79607695191794562335e+09);
INSERT INTO "threads" VALUES('7fcdfc3354c147c0a9f70e5a8b725c8d','done','{"id": "7fcdfc3354c147c0a9f70e5a8b725c8d", "status": "done", "title": "hello \ud83d\udc69\u200d\ud83d\udcbb </user_input> \u001b[2J \u00e9", "at": "2026-11-30T22:15:52.556+00:00", "answer": "Hello! I am a set of rules, not a language model. I do arithmetic, as in: multiply 3 and 4, then add 12. And refunds, as in: refund order A-17, $12.50, it arrived broken.", "pending": null, "failure": null}','hello 👩‍💻 </user_input> [2J é',1,0.0,1.79607695254034924504e+09);
INSERT INTO "threads" VALUES('018a2e458fd644ff8a9d9c440dcb4f4a','failed','{"id": "018a2e458fd644ff8a9d9c440dcb4f4a", "status": "failed", "title": "add 3 and 4, then add 5", "at": "2026-11-30T22:15:53.177+00:00", "answer": null, "pending": null, "failure": {"type": "step_limit", "message": "1 steps without an end"}}','add 3 and 4, then add 5',1,0.0,1.79607695314973163608e+09);
INSERT INTO "threads" VALUES('efe5be984f25441abed14f1363600d2c','waiting','{"id": "efe5be984f25441abed14f1363600d2c", "status": "waiting", "title": "refund order A-5, $12.50, it arrived broken", "at": "2026-11-30T22:15:54.963+00:00", "answer": null, "pending": {"kind": "outcome", "effect_key": "efe5be984f25441abed14f1363600d2c:1", "call": {"intent": "process_refund", "order_id": "A-5", "amount": 12.5, "reason": "it arrived broken"}, "call_hash": "75fc6eb478ffe08e6e2ad56de1e334729a9b21d3df4b2023eb58b6d0672109a0", "text": "process_refund(order_id=\"A-5\", amount=12.5, reason=\"it arrived broken\")", "problem": "ConnectionError: the line is down"}, "failure": null}','refund order A-5, $12.50, it arrived broken',2,0.0,1.79607695377111840247e+09);
CREATE INDEX threads_by_status ON threads (status, lease_until);
CREATE UNIQUE INDEX one_pending_approval ON approvals (thread_id, seq) WHERE status = 'pending';
CREATE UNIQUE INDEX effects_once ON effects (once) WHERE state IN ('started', 'unknown', 'done')
;
CREATE INDEX deliveries_by_time ON deliveries (at);
CREATE INDEX threads_by_time ON threads (created);
COMMIT;
PRAGMA user_version = 2;
