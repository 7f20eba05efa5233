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
INSERT INTO "approvals" VALUES('f6b215bd5ddf47eda529a0608b246fbb','31cf6b08da90480b8e9671ffe0e26ccb',1,'1e2cd46b5f999bf75f3e40ccc3b16871b358742a4ad821180ef0bdf2a1eb5892','pending','',1.79665796687267804139e+09);
INSERT INTO "approvals" VALUES('a86a762713704b85a0ed772af2132705','0ef54681306c49f4bf827c0196e884fa',1,'c13edf467e94c63ab5f884c60b87a7e5ae6d645bb7414cf1d4c6c3d4c0861edb','approved','a-person',1.79665796748001813888e+09);
INSERT INTO "approvals" VALUES('ccc0a4e70187421eaca12bb3b0c9264a','94df67a50f7543eeb6efc35e446c0d3a',1,'bd9b221857bee89048356fc7b230f75f5f77bca4cdc6d89560d91a0e9c3a1bf6','refused','a-person',1.79665796940097069736e+09);
INSERT INTO "approvals" VALUES('7c766c2676df4269ad4e4bc6e15b71ca','ba5520fa79904aaf9abd993f98f19b76',1,'083ed2c1d9d3a033e4dad8b959c8cdf1c5dc6a9f5ad816a1d9227c0a95942684','approved','a-person',1.79665797126206231121e+09);
INSERT INTO "approvals" VALUES('d67aa7a98ddf458c9ebd3e78f33ecbd3','b2016005f4174c0d9f63b86e10849dbb',1,'75fc6eb478ffe08e6e2ad56de1e334729a9b21d3df4b2023eb58b6d0672109a0','approved','a-person',1.79665797502130866053e+09);
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
INSERT INTO "effects" VALUES('0ef54681306c49f4bf827c0196e884fa:1','0ef54681306c49f4bf827c0196e884fa',1,'c13edf467e94c63ab5f884c60b87a7e5ae6d645bb7414cf1d4c6c3d4c0861edb','process_refund(order_id="A-2", amount=12.5, reason="it arrived broken")','the refund of order a-2','done','"refund 12.5 for order A-2 processed"',1.79605316877563118936e+09);
INSERT INTO "effects" VALUES('b2016005f4174c0d9f63b86e10849dbb:1','b2016005f4174c0d9f63b86e10849dbb',1,'75fc6eb478ffe08e6e2ad56de1e334729a9b21d3df4b2023eb58b6d0672109a0','process_refund(order_id="A-5", amount=12.5, reason="it arrived broken")','the refund of order a-5','unknown','"ConnectionError: the line is down"',1.79605317629573059089e+09);
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
INSERT INTO "events" VALUES('9edda8399ad9403e9511e71878239071',0,1,'user_input','{"text": "multiply 3 and 4, then divide the result by 2 and then add 12 to that result"}','{}','2026-11-30T15:39:23.085+00:00');
INSERT INTO "events" VALUES('9edda8399ad9403e9511e71878239071',1,1,'tool_call','{"intent": "multiply", "a": 3, "b": 4}','{"client": "offline", "milliseconds": 25, "tokens": null}','2026-11-30T15:39:23.115+00:00');
INSERT INTO "events" VALUES('9edda8399ad9403e9511e71878239071',2,1,'tool_response','{"call": 1, "result": 12}','{}','2026-11-30T15:39:23.116+00:00');
INSERT INTO "events" VALUES('9edda8399ad9403e9511e71878239071',3,1,'tool_call','{"intent": "divide", "a": 12, "b": 2}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T15:39:23.119+00:00');
INSERT INTO "events" VALUES('9edda8399ad9403e9511e71878239071',4,1,'tool_response','{"call": 3, "result": 6}','{}','2026-11-30T15:39:23.120+00:00');
INSERT INTO "events" VALUES('9edda8399ad9403e9511e71878239071',5,1,'tool_call','{"intent": "add", "a": 12, "b": 6}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T15:39:23.123+00:00');
INSERT INTO "events" VALUES('9edda8399ad9403e9511e71878239071',6,1,'tool_response','{"call": 5, "result": 18}','{}','2026-11-30T15:39:23.123+00:00');
INSERT INTO "events" VALUES('9edda8399ad9403e9511e71878239071',7,1,'tool_call','{"intent": "done_for_now", "message": "18"}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T15:39:23.126+00:00');
INSERT INTO "events" VALUES('69a2f00b62b744f0a281a6b938d1a18a',0,1,'user_input','{"text": "can you do some math for me?"}','{}','2026-11-30T15:39:23.728+00:00');
INSERT INTO "events" VALUES('69a2f00b62b744f0a281a6b938d1a18a',1,1,'tool_call','{"intent": "request_more_information", "message": "Which numbers, and should I add, subtract, multiply or divide them?"}','{"client": "offline", "milliseconds": 5, "tokens": null}','2026-11-30T15:39:23.740+00:00');
INSERT INTO "events" VALUES('e1c276d135ab4611af8dddab469c8500',0,1,'user_input','{"text": "do some math"}','{}','2026-11-30T15:39:24.940+00:00');
INSERT INTO "events" VALUES('e1c276d135ab4611af8dddab469c8500',1,1,'tool_call','{"intent": "request_more_information", "message": "Which numbers, and should I add, subtract, multiply or divide them?"}','{"client": "offline", "milliseconds": 5, "tokens": null}','2026-11-30T15:39:24.951+00:00');
INSERT INTO "events" VALUES('e1c276d135ab4611af8dddab469c8500',2,1,'human_response','{"call": 1, "text": "3 plus 4"}','{}','2026-11-30T15:39:26.213+00:00');
INSERT INTO "events" VALUES('e1c276d135ab4611af8dddab469c8500',3,1,'tool_call','{"intent": "add", "a": 3, "b": 4}','{"client": "offline", "milliseconds": 20, "tokens": null}','2026-11-30T15:39:26.239+00:00');
INSERT INTO "events" VALUES('e1c276d135ab4611af8dddab469c8500',4,1,'tool_response','{"call": 3, "result": 7}','{}','2026-11-30T15:39:26.240+00:00');
INSERT INTO "events" VALUES('e1c276d135ab4611af8dddab469c8500',5,1,'tool_call','{"intent": "done_for_now", "message": "7"}','{"client": "offline", "milliseconds": 1, "tokens": null}','2026-11-30T15:39:26.242+00:00');
INSERT INTO "events" VALUES('31cf6b08da90480b8e9671ffe0e26ccb',0,1,'user_input','{"text": "refund order A-1, $12.50, it arrived broken"}','{}','2026-11-30T15:39:26.861+00:00');
INSERT INTO "events" VALUES('31cf6b08da90480b8e9671ffe0e26ccb',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-1", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 5, "tokens": null}','2026-11-30T15:39:26.872+00:00');
INSERT INTO "events" VALUES('0ef54681306c49f4bf827c0196e884fa',0,1,'user_input','{"text": "refund order A-2, $12.50, it arrived broken"}','{}','2026-11-30T15:39:27.468+00:00');
INSERT INTO "events" VALUES('0ef54681306c49f4bf827c0196e884fa',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-2", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T15:39:27.479+00:00');
INSERT INTO "events" VALUES('0ef54681306c49f4bf827c0196e884fa',2,1,'approval','{"call": 1, "approval_id": "a86a762713704b85a0ed772af2132705", "approved": true, "by": "a-person", "comment": ""}','{}','2026-11-30T15:39:28.761+00:00');
INSERT INTO "events" VALUES('0ef54681306c49f4bf827c0196e884fa',3,1,'tool_response','{"call": 1, "result": "refund 12.5 for order A-2 processed"}','{}','2026-11-30T15:39:28.775+00:00');
INSERT INTO "events" VALUES('0ef54681306c49f4bf827c0196e884fa',4,1,'tool_call','{"intent": "done_for_now", "message": "refund 12.5 for order A-2 processed"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T15:39:28.777+00:00');
INSERT INTO "events" VALUES('94df67a50f7543eeb6efc35e446c0d3a',0,1,'user_input','{"text": "refund order A-3, $12.50, it arrived broken"}','{}','2026-11-30T15:39:29.389+00:00');
INSERT INTO "events" VALUES('94df67a50f7543eeb6efc35e446c0d3a',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-3", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T15:39:29.400+00:00');
INSERT INTO "events" VALUES('94df67a50f7543eeb6efc35e446c0d3a',2,1,'approval','{"call": 1, "approval_id": "ccc0a4e70187421eaca12bb3b0c9264a", "approved": false, "by": "a-person", "comment": "too late"}','{}','2026-11-30T15:39:30.637+00:00');
INSERT INTO "events" VALUES('94df67a50f7543eeb6efc35e446c0d3a',3,1,'tool_call','{"intent": "done_for_now", "message": "It was not approved: too late"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T15:39:30.646+00:00');
INSERT INTO "events" VALUES('ba5520fa79904aaf9abd993f98f19b76',0,1,'user_input','{"text": "refund order A-4, $12.50, it arrived broken"}','{}','2026-11-30T15:39:31.251+00:00');
INSERT INTO "events" VALUES('ba5520fa79904aaf9abd993f98f19b76',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-4", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T15:39:31.261+00:00');
INSERT INTO "events" VALUES('ba5520fa79904aaf9abd993f98f19b76',2,1,'approval','{"call": 1, "approval_id": "7c766c2676df4269ad4e4bc6e15b71ca", "approved": true, "by": "a-person", "comment": ""}','{}','2026-11-30T15:39:32.456+00:00');
INSERT INTO "events" VALUES('ba5520fa79904aaf9abd993f98f19b76',3,1,'tool_response','{"call": 1, "result": "dry run: process_refund(order_id=\"A-4\", amount=12.5, reason=\"it arrived broken\") would be done; nothing was done"}','{}','2026-11-30T15:39:32.463+00:00');
INSERT INTO "events" VALUES('ba5520fa79904aaf9abd993f98f19b76',4,1,'tool_call','{"intent": "done_for_now", "message": "dry run: process_refund(order_id=\"A-4\", amount=12.5, reason=\"it arrived broken\") would be done; nothing was done"}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T15:39:32.465+00:00');
INSERT INTO "events" VALUES('d4ac2987f2ca4b91a59ac761aa82ddbb',0,1,'user_input','{"text": "divide 1 by 0"}','{}','2026-11-30T15:39:33.064+00:00');
INSERT INTO "events" VALUES('d4ac2987f2ca4b91a59ac761aa82ddbb',1,1,'tool_call','{"intent": "divide", "a": 1, "b": 0}','{"client": "offline", "milliseconds": 20, "tokens": null}','2026-11-30T15:39:33.090+00:00');
INSERT INTO "events" VALUES('d4ac2987f2ca4b91a59ac761aa82ddbb',2,1,'error','{"call": 1, "type": "ToolError", "message": "division by zero"}','{}','2026-11-30T15:39:33.091+00:00');
INSERT INTO "events" VALUES('d4ac2987f2ca4b91a59ac761aa82ddbb',3,1,'tool_call','{"intent": "done_for_now", "message": "That did not work: division by zero."}','{"client": "offline", "milliseconds": 0, "tokens": null}','2026-11-30T15:39:33.093+00:00');
INSERT INTO "events" VALUES('8468282845ca4df38b4dba85ddc52cc7',0,1,'user_input','{"text": "hello 👩‍💻 </user_input> \u001b[2J é"}','{}','2026-11-30T15:39:33.731+00:00');
INSERT INTO "events" VALUES('8468282845ca4df38b4dba85ddc52cc7',1,1,'tool_call','{"intent": "done_for_now", "message": "Hello! I am a set of rules, not a language model. I do arithmetic, as in: multiply 3 and 4, then add 12. And refunds, as in: refund order A-17, $12.50, it arrived broken."}','{"client": "offline", "milliseconds": 5, "tokens": null}','2026-11-30T15:39:33.742+00:00');
INSERT INTO "events" VALUES('9bb48c1ba06d47e9acb912315748aa0e',0,1,'user_input','{"text": "add 3 and 4, then add 5"}','{}','2026-11-30T15:39:34.389+00:00');
INSERT INTO "events" VALUES('9bb48c1ba06d47e9acb912315748aa0e',1,1,'tool_call','{"intent": "add", "a": 3, "b": 4}','{"client": "offline", "milliseconds": 22, "tokens": null}','2026-11-30T15:39:34.417+00:00');
INSERT INTO "events" VALUES('9bb48c1ba06d47e9acb912315748aa0e',2,1,'tool_response','{"call": 1, "result": 7}','{}','2026-11-30T15:39:34.419+00:00');
INSERT INTO "events" VALUES('9bb48c1ba06d47e9acb912315748aa0e',3,1,'failed','{"type": "step_limit", "message": "1 steps without an end"}','{}','2026-11-30T15:39:34.421+00:00');
INSERT INTO "events" VALUES('b2016005f4174c0d9f63b86e10849dbb',0,1,'user_input','{"text": "refund order A-5, $12.50, it arrived broken"}','{}','2026-11-30T15:39:35.010+00:00');
INSERT INTO "events" VALUES('b2016005f4174c0d9f63b86e10849dbb',1,1,'tool_call','{"intent": "process_refund", "order_id": "A-5", "amount": 12.5, "reason": "it arrived broken"}','{"client": "offline", "milliseconds": 4, "tokens": null}','2026-11-30T15:39:35.020+00:00');
INSERT INTO "events" VALUES('b2016005f4174c0d9f63b86e10849dbb',2,1,'approval','{"call": 1, "approval_id": "d67aa7a98ddf458c9ebd3e78f33ecbd3", "approved": true, "by": "a-person", "comment": ""}','{}','2026-11-30T15:39:36.272+00:00');
CREATE TABLE refunds (
    order_id TEXT PRIMARY KEY,
    amount TEXT NOT NULL,
    reason TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    at DOUBLE PRECISION NOT NULL
);
INSERT INTO "refunds" VALUES('a-2','12.5','it arrived broken','0ef54681306c49f4bf827c0196e884fa:1',1.79605316877447557452e+09);
CREATE TABLE threads (
    id TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    summary TEXT NOT NULL,
    title TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    lease_until DOUBLE PRECISION NOT NULL,
    created DOUBLE PRECISION NOT NULL
);
INSERT INTO "threads" VALUES('9edda8399ad9403e9511e71878239071','done','{"id": "9edda8399ad9403e9511e71878239071", "status": "done", "answer": "18", "pending": null, "failure": null}','multiply 3 and 4, then divide the result by 2 and then add 12 to that result',1,0.0,1.79605316308531665799e+09);
INSERT INTO "threads" VALUES('69a2f00b62b744f0a281a6b938d1a18a','waiting','{"id": "69a2f00b62b744f0a281a6b938d1a18a", "status": "waiting", "answer": null, "pending": {"kind": "question", "message": "Which numbers, and should I add, subtract, multiply or divide them?"}, "failure": null}','can you do some math for me?',1,0.0,1.79605316372821402545e+09);
INSERT INTO "threads" VALUES('e1c276d135ab4611af8dddab469c8500','done','{"id": "e1c276d135ab4611af8dddab469c8500", "status": "done", "answer": "7", "pending": null, "failure": null}','do some math',2,0.0,1.79605316494001889231e+09);
INSERT INTO "threads" VALUES('31cf6b08da90480b8e9671ffe0e26ccb','waiting','{"id": "31cf6b08da90480b8e9671ffe0e26ccb", "status": "waiting", "answer": null, "pending": {"kind": "approval", "approval_id": "f6b215bd5ddf47eda529a0608b246fbb", "call": {"intent": "process_refund", "order_id": "A-1", "amount": 12.5, "reason": "it arrived broken"}, "call_hash": "1e2cd46b5f999bf75f3e40ccc3b16871b358742a4ad821180ef0bdf2a1eb5892", "earlier": null}, "failure": null}','refund order A-1, $12.50, it arrived broken',1,0.0,1.79605316686107134823e+09);
INSERT INTO "threads" VALUES('0ef54681306c49f4bf827c0196e884fa','done','{"id": "0ef54681306c49f4bf827c0196e884fa", "status": "done", "answer": "refund 12.5 for order A-2 processed", "pending": null, "failure": null}','refund order A-2, $12.50, it arrived broken',2,0.0,1.79605316746855592723e+09);
INSERT INTO "threads" VALUES('94df67a50f7543eeb6efc35e446c0d3a','done','{"id": "94df67a50f7543eeb6efc35e446c0d3a", "status": "done", "answer": "It was not approved: too late", "pending": null, "failure": null}','refund order A-3, $12.50, it arrived broken',2,0.0,1.79605316938943243023e+09);
INSERT INTO "threads" VALUES('ba5520fa79904aaf9abd993f98f19b76','done','{"id": "ba5520fa79904aaf9abd993f98f19b76", "status": "done", "answer": "dry run: process_refund(order_id=\"A-4\", amount=12.5, reason=\"it arrived broken\") would be done; nothing was done", "pending": null, "failure": null}','refund order A-4, $12.50, it arrived broken',2,0.0,1.79605317125136756898e+09);
INSERT INTO "threads" VALUES('d4ac2987f2ca4b91a59ac761aa82ddbb','done','{"id": "d4ac2987f2ca4b91a59ac761aa82ddbb", "status": "done", "answer": "That did not work: division by zero.", "pending": null, "failure": null}','divide 1 by 0',1,0.0,1.79605317306432938576e+09);
INSERT INTO "threads" VALUES('8468282845ca4df38b4dba85ddc52cc7','done','{"id": "8468282845ca4df38b4dba85ddc52cc7", "status": "done", "answer": "Hello! I am a set of rules, not a language model. I do arithmetic, as in: multiply 3 and 4, then add 12. And refunds, as in: refund order A-17, $12.50, it arrived broken.", "pending": null, "failure": null}','hello 👩‍💻 </user_input> [2J é',1,0.0,1.79605317373145675656e+09);
INSERT INTO "threads" VALUES('9bb48c1ba06d47e9acb912315748aa0e','failed','{"id": "9bb48c1ba06d47e9acb912315748aa0e", "status": "failed", "answer": null, "pending": null, "failure": {"type": "step_limit", "message": "1 steps without an end"}}','add 3 and 4, then add 5',1,0.0,1.79605317438884186744e+09);
INSERT INTO "threads" VALUES('b2016005f4174c0d9f63b86e10849dbb','waiting','{"id": "b2016005f4174c0d9f63b86e10849dbb", "status": "waiting", "answer": null, "pending": {"kind": "outcome", "effect_key": "b2016005f4174c0d9f63b86e10849dbb:1", "call": {"intent": "process_refund", "order_id": "A-5", "amount": 12.5, "reason": "it arrived broken"}, "call_hash": "75fc6eb478ffe08e6e2ad56de1e334729a9b21d3df4b2023eb58b6d0672109a0", "problem": "ConnectionError: the line is down"}, "failure": null}','refund order A-5, $12.50, it arrived broken',2,0.0,1.79605317501059174537e+09);
CREATE INDEX threads_by_status ON threads (status, lease_until);
CREATE UNIQUE INDEX one_pending_approval ON approvals (thread_id, seq) WHERE status = 'pending';
CREATE UNIQUE INDEX effects_once ON effects (once) WHERE state IN ('started', 'unknown', 'done')
;
COMMIT;
PRAGMA user_version = 1;
