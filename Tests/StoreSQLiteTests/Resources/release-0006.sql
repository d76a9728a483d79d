-- What the program of the release before wrote, with the tables of its migrations 0001 to 0006: a daemon that worked with a
-- simulated App Store, and was killed while an answer was under way. Tests open it with the program of today.
--
-- Users, and what became of them: alice's refund request is answered, adam's decided, bob's declined; gina's waits, as does
-- one of nobody known (henry bought it); a guardian took back consent for leo's account before Apple asked; erin's answer is
-- queued after failed attempts, jack's was being sent; dave's was refused for good, frank's expired, ida's was cancelled;
-- carol withdrew and is erased; kate has a link to an appAccountToken alone; what Apple asked about mia's purchase was found in
-- Apple's history after its 12 hours, so that her case has expired.
--
-- Apple's signed forms are left out, since no test verifies them: "e30.e30.c2lnbmVk" stands for each. The keys of the
-- installation are of no installation that lives.
PRAGMA application_id = 1349874291;
BEGIN;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
CREATE TABLE link (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL,
    user BLOB NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    environment TEXT,
    source TEXT NOT NULL,
    validFrom INTEGER,
    validUntil INTEGER,
    createdAt INTEGER NOT NULL,
    createdBy TEXT NOT NULL,
    -- The user's id as an appAccountToken is compared: without case.
    userFolded BLOB NOT NULL
) STRICT;
CREATE TABLE knownIdentifier (
    id INTEGER PRIMARY KEY,
    app TEXT NOT NULL,
    identifier TEXT NOT NULL,
    environment TEXT NOT NULL,
    appTransactionId TEXT,
    UNIQUE (app, identifier, environment)
) STRICT;
CREATE TABLE installationKey (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE probe (
    id INTEGER PRIMARY KEY,
    count INTEGER NOT NULL
) STRICT;
CREATE TABLE budgetRecord (
    minute INTEGER NOT NULL,
    app TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    environment TEXT NOT NULL,
    -- Empty for our own work.
    caller TEXT NOT NULL,
    priority TEXT NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (minute, app, endpoint, environment, caller, priority)
) STRICT, WITHOUT ROWID;
CREATE TABLE budgetBlock (
    until INTEGER NOT NULL,
    app TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    environment TEXT NOT NULL,
    PRIMARY KEY (until, app, endpoint, environment)
) STRICT, WITHOUT ROWID;
CREATE TABLE callerKey (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    keyId TEXT NOT NULL UNIQUE,
    caller TEXT NOT NULL,
    app TEXT NOT NULL,
    -- The SubjectPublicKeyInfo in DER.
    publicKey BLOB NOT NULL,
    -- With commas in between; NULL where the configuration tells.
    scopes TEXT,
    createdAt INTEGER NOT NULL,
    revokedAt INTEGER
) STRICT;
CREATE TABLE delivery (
    id TEXT PRIMARY KEY,
    app TEXT NOT NULL,
    caseId TEXT,
    user BLOB,
    caller TEXT NOT NULL,
    transactionId TEXT NOT NULL,
    -- NULL until Apple was asked.
    environment TEXT,
    -- The purchase besides; originalTransactionId is NULL until Apple was asked.
    originalTransactionId TEXT,
    appTransactionId TEXT,
    appAccountToken TEXT,
    productId TEXT,
    productType TEXT,
    purchaseDate INTEGER,
    isFamilyShared INTEGER,
    isAdvancedCommerce INTEGER,
    version TEXT NOT NULL,
    body BLOB NOT NULL,
    -- A JSON array; NULL where there are none.
    warnings BLOB,
    createdAt INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    state TEXT NOT NULL,
    -- Whether a queued one is known to be due; NULL in every other state.
    isReady INTEGER,
    nextAttemptAt INTEGER,
    -- When a queued one that is not ready must be looked at: for the next attempt, or as the deadline passes.
    dueAt INTEGER,
    attemptCount INTEGER NOT NULL DEFAULT 0,
    mayHaveReachedApple INTEGER NOT NULL DEFAULT 0,
    -- Failures are JSON objects, of any text.
    failure BLOB,
    -- Why its end was asked for while it was being sent.
    cancellation BLOB,
    -- The claim; NULL unless it is being sent.
    worker TEXT,
    claimedAt INTEGER,
    leaseUntil INTEGER,
    endedAt INTEGER
) STRICT;
CREATE TABLE deliveryAttempt (
    deliveryId TEXT NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    startedAt INTEGER NOT NULL,
    microseconds INTEGER NOT NULL,
    httpStatus INTEGER,
    errorCode INTEGER,
    failure TEXT,
    PRIMARY KEY (deliveryId, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE idempotencyKey (
    caller TEXT NOT NULL,
    app TEXT NOT NULL,
    -- Any bytes of UTF-8, as the user's id that it holds.
    route BLOB NOT NULL,
    key BLOB NOT NULL,
    requestDigest BLOB NOT NULL,
    deliveryId TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    PRIMARY KEY (caller, app, route, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE consent (
    -- The order of receipt here: the latest of a user decides.
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL,
    user BLOB NOT NULL,
    isConsented INTEGER NOT NULL,
    -- Any bytes of UTF-8.
    source BLOB NOT NULL,
    at INTEGER NOT NULL,
    recordedAt INTEGER NOT NULL,
    recordedBy TEXT NOT NULL,
    -- The user's id as an appAccountToken is compared: without case.
    userFolded BLOB NOT NULL
) STRICT;
CREATE TABLE tombstone (
    hash BLOB NOT NULL,
    -- The hash of the user, for an identifier and for the user alike.
    userHash BLOB NOT NULL,
    PRIMARY KEY (hash, userHash)
) STRICT, WITHOUT ROWID;
CREATE TABLE sendingHold (
    position INTEGER PRIMARY KEY,
    since INTEGER NOT NULL,
    reason TEXT NOT NULL,
    releasedAt INTEGER,
    releasedBy TEXT
) STRICT;
CREATE TABLE notification (
    -- The order in which they were recorded.
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL,
    uuid TEXT NOT NULL,
    type TEXT NOT NULL,
    subtype TEXT,
    signedDate INTEGER,
    environment TEXT NOT NULL,
    source TEXT NOT NULL,
    receivedAt INTEGER NOT NULL,
    user BLOB,
    processedAt INTEGER,
    consumptionRequestReason TEXT,
    -- Of the transaction or the app transaction.
    appTransactionId TEXT,
    -- The transaction; all NULL where the notification has none.
    transactionId TEXT,
    originalTransactionId TEXT,
    webOrderLineItemId TEXT,
    appAccountToken TEXT,
    productId TEXT,
    productType TEXT,
    purchaseDate INTEGER,
    transactionSignedDate INTEGER,
    revocationDate INTEGER,
    isFamilyShared INTEGER,
    isAdvancedCommerce INTEGER,
    UNIQUE (app, uuid)
) STRICT;
CREATE TABLE notificationContent (
    position INTEGER PRIMARY KEY REFERENCES notification (position) ON DELETE CASCADE,
    payload BLOB NOT NULL,
    transactionPayload BLOB,
    renewalPayload BLOB,
    appTransactionPayload BLOB,
    signed TEXT NOT NULL,
    transactionSigned TEXT,
    renewalSigned TEXT,
    appTransactionSigned TEXT
) STRICT;
CREATE TABLE quarantine (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL,
    uuid TEXT,
    fault TEXT NOT NULL,
    receivedAt INTEGER NOT NULL,
    signed TEXT NOT NULL
) STRICT;
CREATE TABLE refundCase (
    id TEXT PRIMARY KEY,
    app TEXT NOT NULL,
    -- The purchase.
    environment TEXT NOT NULL,
    transactionId TEXT NOT NULL,
    originalTransactionId TEXT NOT NULL,
    appTransactionId TEXT,
    appAccountToken TEXT,
    productId TEXT,
    productType TEXT,
    purchaseDate INTEGER NOT NULL,
    isFamilyShared INTEGER NOT NULL,
    isAdvancedCommerce INTEGER NOT NULL,
    owner BLOB,
    state TEXT NOT NULL,
    reason TEXT,
    requestedAt INTEGER NOT NULL,
    openedAt INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    declineCaller TEXT,
    -- Any bytes of UTF-8, as a user's id.
    declineNote BLOB,
    declineAt INTEGER,
    outcome TEXT,
    decidedAt INTEGER,
    -- When the state last changed to what it is, unless it is open.
    closedAt INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE caseRequest (
    caseId TEXT NOT NULL REFERENCES refundCase (id) ON DELETE CASCADE,
    signedAt INTEGER NOT NULL,
    notificationUuid TEXT NOT NULL,
    receivedAt INTEGER NOT NULL,
    reason TEXT,
    PRIMARY KEY (caseId, signedAt, notificationUuid)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    app TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    at INTEGER NOT NULL,
    environment TEXT,
    transactionId TEXT,
    user BLOB,
    caseId TEXT,
    detail TEXT,
    notificationType TEXT,
    subtype TEXT
) STRICT;
CREATE TABLE historyProgress (
    app TEXT NOT NULL,
    environment TEXT NOT NULL,
    completeUntil INTEGER,
    -- The search that is under way; all NULL when none is.
    pass TEXT,
    windowStart INTEGER,
    windowEnd INTEGER,
    paginationToken TEXT,
    PRIMARY KEY (app, environment)
) STRICT, WITHOUT ROWID;
CREATE INDEX linkByTarget ON link (app, kind, value);
CREATE INDEX linkByUser ON link (app, user);
CREATE INDEX linkByFoldedUser ON link (app, userFolded) WHERE validUntil IS NULL;
CREATE INDEX deliveryReady ON delivery (deadline, id, app, environment, transactionId, isReady) WHERE isReady = 1;
CREATE INDEX deliveryWaiting ON delivery (dueAt, deadline, isReady) WHERE isReady = 0;
CREATE INDEX deliverySending ON delivery (app, transactionId, state) WHERE state = 'sending';
CREATE INDEX deliveryUnderWay ON delivery (app, state, id, createdAt, deadline, endedAt) WHERE endedAt IS NULL;
CREATE INDEX deliveryEnded ON delivery (app, state, id) WHERE endedAt IS NOT NULL;
CREATE INDEX deliveryByEnd ON delivery (endedAt) WHERE endedAt IS NOT NULL;
CREATE INDEX deliveryByApp ON delivery (app, id);
CREATE INDEX deliveryByCase ON delivery (caseId, id) WHERE caseId IS NOT NULL;
CREATE INDEX deliveryByUser ON delivery (app, user, id) WHERE user IS NOT NULL;
CREATE INDEX deliveryByTransaction ON delivery (app, transactionId, id);
CREATE INDEX deliveryByOriginal ON delivery (app, originalTransactionId) WHERE originalTransactionId IS NOT NULL;
CREATE INDEX deliveryByAppTransaction ON delivery (app, appTransactionId) WHERE appTransactionId IS NOT NULL;
CREATE INDEX deliveryByToken ON delivery (app, appAccountToken) WHERE appAccountToken IS NOT NULL;
CREATE INDEX deliveryAttemptByTime ON deliveryAttempt (startedAt);
CREATE INDEX idempotencyKeyByTime ON idempotencyKey (createdAt);
CREATE INDEX idempotencyKeyByDelivery ON idempotencyKey (deliveryId);
CREATE INDEX consentByUser ON consent (app, user);
CREATE INDEX consentByFoldedUser ON consent (app, userFolded);
CREATE INDEX tombstoneByUser ON tombstone (userHash);
CREATE INDEX sendingHoldInForce ON sendingHold (since) WHERE releasedAt IS NULL;
CREATE INDEX notificationByApp ON notification (app);
CREATE INDEX notificationByType ON notification (app, type);
CREATE INDEX notificationByTransaction ON notification (app, transactionId)
    WHERE transactionId IS NOT NULL;
CREATE INDEX notificationByOriginal ON notification (app, originalTransactionId)
    WHERE originalTransactionId IS NOT NULL;
CREATE INDEX notificationByUser ON notification (app, user) WHERE user IS NOT NULL;
CREATE INDEX notificationByTime ON notification (receivedAt);
CREATE INDEX notificationUnprocessed ON notification (processedAt) WHERE processedAt IS NULL;
CREATE INDEX refundCaseByDeadline ON refundCase (app, deadline, id);
CREATE INDEX refundCaseByState ON refundCase (app, state, deadline, id);
CREATE INDEX refundCaseByOwner ON refundCase (app, owner, deadline, id) WHERE owner IS NOT NULL;
CREATE INDEX refundCaseByTransaction ON refundCase (app, transactionId, deadline, id);
CREATE INDEX refundCaseClosed ON refundCase (closedAt) WHERE closedAt IS NOT NULL;
CREATE INDEX openCaseByDeadline ON refundCase (deadline) WHERE state = 'open';
CREATE INDEX openCaseByApp ON refundCase (app, environment, deadline) WHERE state = 'open';
CREATE INDEX openCaseByTransaction ON refundCase (app, transactionId) WHERE state = 'open';
CREATE INDEX openCaseByOriginal ON refundCase (app, originalTransactionId) WHERE state = 'open';
CREATE INDEX openCaseByAppTransaction ON refundCase (app, appTransactionId) WHERE state = 'open';
CREATE INDEX openCaseByToken ON refundCase (app, appAccountToken) WHERE state = 'open';
CREATE INDEX eventByApp ON event (app);
CREATE INDEX eventByUser ON event (app, user) WHERE user IS NOT NULL;
CREATE INDEX eventByTime ON event (at);
CREATE INDEX knownIdentifierByAccount ON knownIdentifier (app, appTransactionId, environment)
    WHERE appTransactionId IS NOT NULL;
CREATE INDEX deliveryReadyByLane ON delivery (app, environment, deadline, id, transactionId, isReady)
    WHERE isReady = 1;
INSERT INTO grdb_migrations (identifier) VALUES
    ('0001 links, known identifiers, installation keys'),
    ('0002 rate budgets'),
    ('0003 caller keys'),
    ('0004 deliveries and consent'),
    ('0005 notifications, cases and events'),
    ('0006 ready deliveries by lane');
INSERT INTO link (id, app, user, kind, value, environment, source, validFrom, validUntil, createdAt, createdBy, userFolded) VALUES
    (1, 'coins', CAST('alice' AS BLOB), 'transactionId', '433162444007201', 'Production', 'declared', NULL, NULL, 1795347666399, 'billing', CAST('alice' AS BLOB)),
    (2, 'coins', CAST('adam' AS BLOB), 'transactionId', '433162444102915', 'Production', 'declared', NULL, NULL, 1795347666577, 'billing', CAST('adam' AS BLOB)),
    (3, 'coins', CAST('bob' AS BLOB), 'transactionId', '2000000204946085', NULL, 'declared', NULL, NULL, 1795347666831, 'billing', CAST('bob' AS BLOB)),
    (5, 'coins', CAST('kate' AS BLOB), 'appAccountToken', '3f2504e0-4f89-11d3-9a0c-0305e82c3301', NULL, 'declared', NULL, NULL, 1795347667040, 'billing', CAST('kate' AS BLOB)),
    (6, 'coins', CAST('dave' AS BLOB), 'transactionId', '433162444224576', NULL, 'declared', NULL, NULL, 1795347667060, 'billing', CAST('dave' AS BLOB)),
    (7, 'coins', CAST('gina' AS BLOB), 'transactionId', '433162444315641', NULL, 'declared', NULL, NULL, 1795347667114, 'billing', CAST('gina' AS BLOB)),
    (8, 'coins', CAST('leo' AS BLOB), 'transactionId', '433162444397018', NULL, 'declared', NULL, NULL, 1795347667359, 'billing', CAST('leo' AS BLOB)),
    (9, 'coins', CAST('frank' AS BLOB), 'transactionId', '433162444442589', NULL, 'declared', NULL, NULL, 1795347668519, 'billing', CAST('frank' AS BLOB)),
    (10, 'coins', CAST('ida' AS BLOB), 'transactionId', '433162444535666', NULL, 'declared', NULL, NULL, 1795347668654, 'billing', CAST('ida' AS BLOB)),
    (11, 'coins', CAST('erin' AS BLOB), 'transactionId', '2000000204946235', NULL, 'declared', NULL, NULL, 1795347668704, 'billing', CAST('erin' AS BLOB)),
    (12, 'coins', CAST('jack' AS BLOB), 'transactionId', '433162444626594', NULL, 'declared', NULL, NULL, 1795347735061, 'billing', CAST('jack' AS BLOB)),
    (13, 'coins', CAST('mia' AS BLOB), 'transactionId', '433162444712043', NULL, 'declared', NULL, NULL, 1795347739000, 'billing', CAST('mia' AS BLOB));
INSERT INTO knownIdentifier (id, app, identifier, environment, appTransactionId) VALUES
    (1, 'coins', '433162444007201', 'Production', '704165192550960786'),
    (2, 'coins', '433162444102915', 'Production', '704165192551124607'),
    (3, 'coins', '2000000204946085', 'Sandbox', '704165192552036292'),
    (4, 'coins', '433162444200019', 'Production', '704165192552988235'),
    (5, 'coins', '433162444224576', 'Production', '704165192553598232'),
    (6, 'coins', '433162444315641', 'Production', '704165192554316581'),
    (7, 'coins', '2000000204946162', 'Sandbox', '704165192554494044'),
    (8, 'coins', '433162444397018', 'Production', '704165192555253250'),
    (9, 'coins', '433162444442589', 'Production', '704165192555908144'),
    (10, 'coins', '433162444535666', 'Production', '704165192556767891'),
    (11, 'coins', '2000000204946235', 'Sandbox', '704165192557156260'),
    (12, 'coins', '704165192550960786', 'Production', NULL),
    (13, 'coins', '433162444626594', 'Production', '704165192557796885'),
    (14, 'coins', '433162444712043', 'Production', '704165192558100472');
INSERT INTO installationKey (name, value) VALUES
    ('callerKeyIssuer', CAST('78daa192-95f6-45d5-942e-4bca2d663c4c' AS BLOB)),
    ('pageToken', X'0efdd0bd58831d86dc3b89645c5de30c7015540d9334274749aa6ad101e6d7db'),
    ('tombstones', X'4b00bfe6208df4e37fd3ecde4b3a7547bf27586a27651745cbceb78f5536782d');
INSERT INTO probe (id, count) VALUES
    (1, 0);
INSERT INTO budgetRecord (minute, app, endpoint, environment, caller, priority, calls) VALUES
    (29922461, 'coins', 'Get Notification History', 'Production', '', 'interactive', 3),
    (29922461, 'coins', 'Get Notification History', 'Sandbox', '', 'interactive', 3),
    (29922461, 'coins', 'Get Transaction History', 'Production', 'billing', 'interactive', 2),
    (29922461, 'coins', 'Get Transaction Info', 'Production', 'billing', 'deadlineBound', 3),
    (29922461, 'coins', 'Request a Test Notification', 'Production', 'billing', 'interactive', 1),
    (29922461, 'coins', 'Send Consumption Information', 'Production', 'billing', 'deadlineBound', 13),
    (29922461, 'coins', 'Send Consumption Information', 'Sandbox', 'billing', 'deadlineBound', 10);
INSERT INTO callerKey (id, keyId, caller, app, publicKey, scopes, createdAt, revokedAt) VALUES
    (1, 'SJMSW47CFK', 'billing', 'coins', X'3059301306072a8648ce3d020106082a8648ce3d03010703420004b57e3a2d47b6acba4dae2ace5f3e9e0a7dee1928508558196b0b9b5944e7801307fcacff4d350e852e05f3cd170211aad36a13573a86d6c20cb41523aef47975', NULL, 1795347673026, NULL);
INSERT INTO delivery (id, app, caseId, user, caller, transactionId, environment, originalTransactionId, appTransactionId, appAccountToken, productId, productType, purchaseDate, isFamilyShared, isAdvancedCommerce, version, body, warnings, createdAt, deadline, state, isReady, nextAttemptAt, dueAt, attemptCount, mayHaveReachedApple, failure, cancellation, worker, claimedAt, leaseUntil, endedAt) VALUES
    ('01a2030f-5670-70c8-92bc-5b8c5a080eb6', 'coins', '01a2030f-560b-782f-91a2-fb3264d0757a', CAST('alice' AS BLOB), 'billing', '433162444007201', 'Production', '433162444007201', '704165192550960786', NULL, 'gems.100', 'Consumable', 1795347666392, 0, 0, 'V2', CAST('{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":60000,"refundPreference":"DECLINE"}' AS BLOB), NULL, 1795347666544, 1795390866429, 'accepted', NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, 1795347666552),
    ('01a2030f-5704-7c9e-8de9-900a5d934c14', 'coins', '01a2030f-569e-7fff-bdc1-661bf4518ddf', CAST('adam' AS BLOB), 'billing', '433162444102915', 'Production', '433162444102915', '704165192551124607', NULL, 'gems.100', 'Consumable', 1795347666570, 0, 0, 'V2', CAST('{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":60000,"refundPreference":"DECLINE"}' AS BLOB), NULL, 1795347666692, 1795390866580, 'accepted', NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, 1795347666698),
    ('01a2030f-588a-7239-9579-037ad2ec5534', 'coins', NULL, NULL, 'billing', '433162444224576', 'Production', '433162444224576', '704165192553598232', NULL, 'gems.100', 'Consumable', 1795347667054, 0, 0, 'V2', CAST('{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":60000,"refundPreference":"DECLINE"}' AS BLOB), NULL, 1795347667082, 1795390867082, 'refused', NULL, NULL, NULL, 1, 0, CAST('{"message":"Apple rejected the request: InvalidTransactionTypeNotSupportedError.","apple":{"httpStatus":400,"endpoint":"Send Consumption Information","errorMessage":"InvalidTransactionTypeNotSupportedError","body":"eyJlcnJvckNvZGUiOjQwMDAwNDcsImVycm9yTWVzc2FnZSI6IkludmFsaWRUcmFuc2FjdGlvblR5cGVOb3RTdXBwb3J0ZWRFcnJvciJ9","errorName":"InvalidTransactionTypeNotSupportedError","errorCode":4000047,"environment":"Production"},"reason":"apple-rejected"}' AS BLOB), NULL, NULL, NULL, NULL, 1795347667102),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 'coins', NULL, NULL, 'billing', '433162444442589', 'Production', '433162444442589', '704165192555908144', NULL, 'gems.100', 'Consumable', 1795347668513, 0, 0, 'V2', CAST('{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":60000,"refundPreference":"DECLINE"}' AS BLOB), NULL, 1795347668645, 1795347674000, 'expired', NULL, NULL, NULL, 10, 1, CAST('{"reason":"deadline-exceeded","apple":{"environment":"Production","endpoint":"Send Consumption Information","httpStatus":503,"body":"c3RhdHVzIDUwMwo="},"message":"The deadline comes before the next attempt could be made. The last one failed: Apple failed: status 503."}' AS BLOB), NULL, NULL, NULL, NULL, 1795347672843),
    ('01a2030f-5eb9-7e0b-acee-12e2104b497d', 'coins', NULL, NULL, 'billing', '433162444535666', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'V2', CAST('{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":60000,"refundPreference":"DECLINE"}' AS BLOB), NULL, 1795347668665, 1795390868665, 'cancelled', NULL, NULL, NULL, 1, 0, CAST('{"message":"Caller `billing` cancelled it.","reason":"delivery-ended"}' AS BLOB), CAST('{"reason":"delivery-ended","message":"Caller `billing` cancelled it."}' AS BLOB), NULL, NULL, NULL, 1795347668688),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 'coins', '01a2030f-5f0b-7d56-8daa-d0e28204c3e3', CAST('erin' AS BLOB), 'billing', '2000000204946235', 'Sandbox', '2000000204946235', '704165192557156260', NULL, 'gems.100', 'Consumable', 1795347668698, 0, 0, 'V2', CAST('{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":60000,"refundPreference":"DECLINE"}' AS BLOB), NULL, 1795347668845, 1795390868732, 'queued', 0, 1795347792021, 1795347792021, 10, 1, CAST('{"reason":"apple-unavailable","message":"Apple failed: status 503.","apple":{"httpStatus":503,"environment":"Sandbox","endpoint":"Send Consumption Information","body":"c3RhdHVzIDUwMwo="}}' AS BLOB), NULL, NULL, NULL, NULL, NULL),
    ('01a20310-6289-78d2-a736-c04a92753457', 'coins', '01a20310-6223-7255-b6a8-a37d29dbc436', CAST('jack' AS BLOB), 'billing', '433162444626594', 'Production', '433162444626594', '704165192557796885', NULL, 'gems.100', 'Consumable', 1795347735057, 0, 0, 'V2', CAST('{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"consumptionPercentage":60000,"refundPreference":"DECLINE"}' AS BLOB), NULL, 1795347735177, 1795390935065, 'sending', NULL, 1795347735177, NULL, 0, 0, NULL, NULL, '204D19CC-6AE1-4FBB-966B-F6053A335B4A', 1795347735179, 1795347790179, NULL);
INSERT INTO deliveryAttempt (deliveryId, number, startedAt, microseconds, httpStatus, errorCode, failure) VALUES
    ('01a2030f-5670-70c8-92bc-5b8c5a080eb6', 1, 1795347666548, 3513, 202, NULL, NULL),
    ('01a2030f-5704-7c9e-8de9-900a5d934c14', 1, 1795347666695, 3205, 202, NULL, NULL),
    ('01a2030f-588a-7239-9579-037ad2ec5534', 1, 1795347667098, 3222, 400, 4000047, 'InvalidTransactionTypeNotSupportedError'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 1, 1795347668658, 3943, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 2, 1795347668867, 8247, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 3, 1795347668898, 3363, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 4, 1795347669030, 3300, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 5, 1795347669734, 3114, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 6, 1795347671383, 2999, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 7, 1795347672197, 3302, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 8, 1795347672304, 3152, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 9, 1795347672658, 3280, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5ea5-74bc-bc96-ce1d28edc113', 10, 1795347672840, 3167, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5eb9-7e0b-acee-12e2104b497d', 1, 1795347668687, 927, NULL, NULL, 'deadline-exceeded'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 1, 1795347668868, 6129, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 2, 1795347669082, 3137, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 3, 1795347669090, 2417, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 4, 1795347669874, 3008, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 5, 1795347670637, 5062, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 6, 1795347671945, 3222, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 7, 1795347674606, 3201, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 8, 1795347677024, 2973, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 9, 1795347700498, 3412, 503, NULL, 'apple-unavailable'),
    ('01a2030f-5f6d-70d9-95ce-4991ba0d295a', 10, 1795347708254, 3254, 503, NULL, 'apple-unavailable');
INSERT INTO idempotencyKey (caller, app, route, key, requestDigest, deliveryId, createdAt) VALUES
    ('billing', 'coins', CAST('users/erin/consumption' AS BLOB), CAST('answer-erin' AS BLOB), X'e950763cc2c7a1f029e56cad0212e01b1edf16391dd297785522954a42168fc2', '01a2030f-5f6d-70d9-95ce-4991ba0d295a', 1795347668845);
INSERT INTO consent (position, app, user, isConsented, source, at, recordedAt, recordedBy, userFolded) VALUES
    (1, 'coins', CAST('alice' AS BLOB), 1, CAST('settings' AS BLOB), 1795347666419, 1795347666419, 'billing', CAST('alice' AS BLOB)),
    (2, 'coins', CAST('bob' AS BLOB), 0, CAST('support' AS BLOB), 1795347666969, 1795347666969, 'billing', CAST('bob' AS BLOB)),
    (5, 'coins', CAST('leo' AS BLOB), 0, CAST('RESCIND_CONSENT' AS BLOB), 1795347667377, 1795347667389, '', CAST('leo' AS BLOB)),
    (6, 'coins', CAST('erin' AS BLOB), 1, CAST('settings' AS BLOB), 1777622400000, 1795347668720, 'billing', CAST('erin' AS BLOB));
INSERT INTO tombstone (hash, userHash) VALUES
    (X'30a561ae6e74cfd56cabe7b2d98a7305b645f17fb2096123f081e7aa3c812bc7', X'a5c6ccf00601e493a7a97dfdb7b7cde64a2a9c5c49be90505a45b7cb2af3f823'),
    (X'7dec5f84985df7ea19360acbaba6458e155d88c8afae6543c7ad04669198e8d5', X'a5c6ccf00601e493a7a97dfdb7b7cde64a2a9c5c49be90505a45b7cb2af3f823'),
    (X'a5c6ccf00601e493a7a97dfdb7b7cde64a2a9c5c49be90505a45b7cb2af3f823', X'a5c6ccf00601e493a7a97dfdb7b7cde64a2a9c5c49be90505a45b7cb2af3f823');
INSERT INTO notification (position, app, uuid, type, subtype, signedDate, environment, source, receivedAt, user, processedAt, consumptionRequestReason, appTransactionId, transactionId, originalTransactionId, webOrderLineItemId, appAccountToken, productId, productType, purchaseDate, transactionSignedDate, revocationDate, isFamilyShared, isAdvancedCommerce) VALUES
    (1, 'coins', 'cda5bb6e-b04f-4ba2-8099-73f47a3f5a05', 'ONE_TIME_CHARGE', NULL, 1795347666392, 'Production', 'webhook', 1795347666404, CAST('alice' AS BLOB), 1795347666422, NULL, '704165192550960786', '433162444007201', '433162444007201', NULL, NULL, 'gems.100', 'Consumable', 1795347666392, 1795347666392, NULL, 0, 0),
    (2, 'coins', '9d7d3766-49c3-4bee-898b-67db85ab0aa1', 'CONSUMPTION_REQUEST', NULL, 1795347666429, 'Production', 'webhook', 1795347666435, CAST('alice' AS BLOB), 1795347666443, 'UNINTENDED_PURCHASE', '704165192550960786', '433162444007201', '433162444007201', NULL, NULL, 'gems.100', 'Consumable', 1795347666392, 1795347666429, NULL, 0, 0),
    (3, 'coins', 'c693fa1c-43d4-4762-86b5-f0606b1359fd', 'ONE_TIME_CHARGE', NULL, 1795347666570, 'Production', 'webhook', 1795347666576, CAST('adam' AS BLOB), 1795347666578, NULL, '704165192551124607', '433162444102915', '433162444102915', NULL, NULL, 'gems.100', 'Consumable', 1795347666570, 1795347666570, NULL, 0, 0),
    (4, 'coins', '1f642fb4-b628-41d1-bf5e-2e33f473659f', 'CONSUMPTION_REQUEST', NULL, 1795347666580, 'Production', 'webhook', 1795347666587, CAST('adam' AS BLOB), 1795347666590, 'UNINTENDED_PURCHASE', '704165192551124607', '433162444102915', '433162444102915', NULL, NULL, 'gems.100', 'Consumable', 1795347666570, 1795347666580, NULL, 0, 0),
    (5, 'coins', 'd162956d-71de-4cfe-afe7-cc9da3b124c7', 'REFUND_DECLINED', NULL, 1795347666712, 'Production', 'webhook', 1795347666719, CAST('adam' AS BLOB), 1795347666722, NULL, '704165192551124607', '433162444102915', '433162444102915', NULL, NULL, 'gems.100', 'Consumable', 1795347666570, 1795347666712, NULL, 0, 0),
    (6, 'coins', '34228631-9cc8-48ed-a04d-2cceeacdc39d', 'ONE_TIME_CHARGE', NULL, 1795347666828, 'Sandbox', 'webhook', 1795347666835, CAST('bob' AS BLOB), 1795347666847, NULL, '704165192552036292', '2000000204946085', '2000000204946085', NULL, NULL, 'gems.100', 'Consumable', 1795347666828, 1795347666828, NULL, 0, 0),
    (7, 'coins', 'fb687353-be1b-45da-83c4-a4026790e4bf', 'CONSUMPTION_REQUEST', NULL, 1795347666838, 'Sandbox', 'webhook', 1795347666844, CAST('bob' AS BLOB), 1795347666849, 'UNINTENDED_PURCHASE', '704165192552036292', '2000000204946085', '2000000204946085', NULL, NULL, 'gems.100', 'Consumable', 1795347666828, 1795347666838, NULL, 0, 0),
    (8, 'coins', '3185761b-8241-46be-8919-09bda68a333f', 'ONE_TIME_CHARGE', NULL, 1795347666981, 'Production', 'webhook', 1795347666987, NULL, 1795347667003, NULL, '704165192552988235', '433162444200019', '433162444200019', NULL, NULL, 'gems.100', 'Consumable', 1795347666981, 1795347666981, NULL, 0, 0),
    (9, 'coins', '4e10d244-c212-434e-932d-762cb857d6c1', 'ONE_TIME_CHARGE', NULL, 1795347667054, 'Production', 'webhook', 1795347667060, CAST('dave' AS BLOB), 1795347667071, NULL, '704165192553598232', '433162444224576', '433162444224576', NULL, NULL, 'gems.100', 'Consumable', 1795347667054, 1795347667054, NULL, 0, 0),
    (10, 'coins', 'ff5b8e0d-3d2d-4a29-9f2f-b14dcfe6aba9', 'ONE_TIME_CHARGE', NULL, 1795347667110, 'Production', 'webhook', 1795347667117, CAST('gina' AS BLOB), 1795347667130, NULL, '704165192554316581', '433162444315641', '433162444315641', NULL, NULL, 'gems.100', 'Consumable', 1795347667110, 1795347667110, NULL, 0, 0),
    (11, 'coins', '3e692bbb-348f-4401-9049-d60d8964bd44', 'CONSUMPTION_REQUEST', NULL, 1795347667124, 'Production', 'webhook', 1795347667131, CAST('gina' AS BLOB), 1795347667143, 'UNINTENDED_PURCHASE', '704165192554316581', '433162444315641', '433162444315641', NULL, NULL, 'gems.100', 'Consumable', 1795347667110, 1795347667124, NULL, 0, 0),
    (12, 'coins', '00a99c48-fc1a-4d04-a889-b9e90dbf6882', 'CONSUMPTION_REQUEST', NULL, 1795347667241, 'Sandbox', 'webhook', 1795347667246, NULL, 1795347667249, 'UNINTENDED_PURCHASE', '704165192554494044', '2000000204946162', '2000000204946162', NULL, NULL, 'gems.100', 'Consumable', 1795347667238, 1795347667241, NULL, 0, 0),
    (13, 'coins', '8881cfba-691e-4ef8-98e4-d3aba3393c77', 'ONE_TIME_CHARGE', NULL, 1795347667238, 'Sandbox', 'webhook', 1795347667247, NULL, 1795347667254, NULL, '704165192554494044', '2000000204946162', '2000000204946162', NULL, NULL, 'gems.100', 'Consumable', 1795347667238, 1795347667238, NULL, 0, 0),
    (14, 'coins', '528cf2fc-67c1-472e-83e7-57a0dc04314a', 'ONE_TIME_CHARGE', NULL, 1795347667355, 'Production', 'webhook', 1795347667362, CAST('leo' AS BLOB), 1795347667366, NULL, '704165192555253250', '433162444397018', '433162444397018', NULL, NULL, 'gems.100', 'Consumable', 1795347667355, 1795347667355, NULL, 0, 0),
    (15, 'coins', '54c9ef6b-0ae5-4314-8056-c584f1536b2e', 'RESCIND_CONSENT', NULL, 1795347667377, 'Production', 'webhook', 1795347667384, NULL, 1795347667396, NULL, '704165192555253250', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (16, 'coins', '73bfe840-e3b5-4d14-8968-30350cf290bc', 'CONSUMPTION_REQUEST', NULL, 1795347668395, 'Production', 'webhook', 1795347668400, CAST('leo' AS BLOB), 1795347668403, 'UNINTENDED_PURCHASE', '704165192555253250', '433162444397018', '433162444397018', NULL, NULL, 'gems.100', 'Consumable', 1795347667355, 1795347668395, NULL, 0, 0),
    (17, 'coins', '75d0a0d8-50b8-4a3c-b7a9-bf6706078b15', 'ONE_TIME_CHARGE', NULL, 1795347668513, 'Production', 'webhook', 1795347668519, CAST('frank' AS BLOB), 1795347668532, NULL, '704165192555908144', '433162444442589', '433162444442589', NULL, NULL, 'gems.100', 'Consumable', 1795347668513, 1795347668513, NULL, 0, 0),
    (18, 'coins', '161ddbd6-2166-47cb-b93f-af79844ccd47', 'ONE_TIME_CHARGE', NULL, 1795347668651, 'Production', 'webhook', 1795347668659, CAST('ida' AS BLOB), 1795347668667, NULL, '704165192556767891', '433162444535666', '433162444535666', NULL, NULL, 'gems.100', 'Consumable', 1795347668651, 1795347668651, NULL, 0, 0),
    (19, 'coins', '9c3e432a-2f7a-41c0-b106-002f0b70673f', 'ONE_TIME_CHARGE', NULL, 1795347668698, 'Sandbox', 'webhook', 1795347668703, CAST('erin' AS BLOB), 1795347668715, NULL, '704165192557156260', '2000000204946235', '2000000204946235', NULL, NULL, 'gems.100', 'Consumable', 1795347668698, 1795347668698, NULL, 0, 0),
    (20, 'coins', '13473ef5-236b-4d05-8aa2-feb697728a78', 'CONSUMPTION_REQUEST', NULL, 1795347668732, 'Sandbox', 'webhook', 1795347668739, CAST('erin' AS BLOB), 1795347668747, 'UNINTENDED_PURCHASE', '704165192557156260', '2000000204946235', '2000000204946235', NULL, NULL, 'gems.100', 'Consumable', 1795347668698, 1795347668732, NULL, 0, 0),
    (21, 'coins', '3110ad04-c500-4738-a652-1e0ff57d48f3', 'TEST', NULL, 1795347672945, 'Production', 'webhook', 1795347672951, NULL, 1795347672963, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (22, 'coins', '3013cba1-ff91-4e29-abc3-0c8b8f0ac178', 'ONE_TIME_CHARGE', NULL, 1795347735057, 'Production', 'webhook', 1795347735063, CAST('jack' AS BLOB), 1795347735068, NULL, '704165192557796885', '433162444626594', '433162444626594', NULL, NULL, 'gems.100', 'Consumable', 1795347735057, 1795347735057, NULL, 0, 0),
    (23, 'coins', '2aa4590b-d5d9-4cd2-ac3a-a27608fda6ee', 'CONSUMPTION_REQUEST', NULL, 1795347735065, 'Production', 'webhook', 1795347735073, CAST('jack' AS BLOB), 1795347735075, 'UNINTENDED_PURCHASE', '704165192557796885', '433162444626594', '433162444626594', NULL, NULL, 'gems.100', 'Consumable', 1795347735057, 1795347735065, NULL, 0, 0),
    (24, 'coins', '5c0f5d3a-6a5e-4c7b-9d0e-7b1d6f3f2a41', 'CONSUMPTION_REQUEST', NULL, 1795304400000, 'Production', 'history', 1795347740000, CAST('mia' AS BLOB), 1795347740011, 'UNINTENDED_PURCHASE', '704165192558100472', '433162444712043', '433162444712043', NULL, NULL, 'gems.100', 'Consumable', 1795300000000, 1795304400000, NULL, 0, 0);
INSERT INTO notificationContent (position, payload, transactionPayload, renewalPayload, appTransactionPayload, signed, transactionSigned, renewalSigned, appTransactionSigned) VALUES
    (1, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"cda5bb6e-b04f-4ba2-8099-73f47a3f5a05","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347666392}' AS BLOB), CAST('{"transactionId":"433162444007201","originalTransactionId":"433162444007201","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347666392,"originalPurchaseDate":1795347666392,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347666392,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192550960786"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (2, CAST('{"notificationType":"CONSUMPTION_REQUEST","notificationUUID":"9d7d3766-49c3-4bee-898b-67db85ab0aa1","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1","consumptionRequestReason":"UNINTENDED_PURCHASE"},"version":"2.0","signedDate":1795347666429}' AS BLOB), CAST('{"transactionId":"433162444007201","originalTransactionId":"433162444007201","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347666392,"originalPurchaseDate":1795347666392,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347666429,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192550960786"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (3, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"c693fa1c-43d4-4762-86b5-f0606b1359fd","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347666570}' AS BLOB), CAST('{"transactionId":"433162444102915","originalTransactionId":"433162444102915","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347666570,"originalPurchaseDate":1795347666570,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347666570,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192551124607"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (4, CAST('{"notificationType":"CONSUMPTION_REQUEST","notificationUUID":"1f642fb4-b628-41d1-bf5e-2e33f473659f","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1","consumptionRequestReason":"UNINTENDED_PURCHASE"},"version":"2.0","signedDate":1795347666580}' AS BLOB), CAST('{"transactionId":"433162444102915","originalTransactionId":"433162444102915","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347666570,"originalPurchaseDate":1795347666570,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347666580,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192551124607"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (5, CAST('{"notificationType":"REFUND_DECLINED","notificationUUID":"d162956d-71de-4cfe-afe7-cc9da3b124c7","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347666712}' AS BLOB), CAST('{"transactionId":"433162444102915","originalTransactionId":"433162444102915","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347666570,"originalPurchaseDate":1795347666570,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347666712,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192551124607"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (6, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"34228631-9cc8-48ed-a04d-2cceeacdc39d","data":{"environment":"Sandbox","bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347666828}' AS BLOB), CAST('{"transactionId":"2000000204946085","originalTransactionId":"2000000204946085","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347666828,"originalPurchaseDate":1795347666828,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347666828,"environment":"Sandbox","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192552036292"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (7, CAST('{"notificationType":"CONSUMPTION_REQUEST","notificationUUID":"fb687353-be1b-45da-83c4-a4026790e4bf","data":{"environment":"Sandbox","bundleId":"com.example.coins","bundleVersion":"1","consumptionRequestReason":"UNINTENDED_PURCHASE"},"version":"2.0","signedDate":1795347666838}' AS BLOB), CAST('{"transactionId":"2000000204946085","originalTransactionId":"2000000204946085","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347666828,"originalPurchaseDate":1795347666828,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347666838,"environment":"Sandbox","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192552036292"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (8, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"3185761b-8241-46be-8919-09bda68a333f","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347666981}' AS BLOB), CAST('{"transactionId":"433162444200019","originalTransactionId":"433162444200019","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347666981,"originalPurchaseDate":1795347666981,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347666981,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192552988235"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (9, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"4e10d244-c212-434e-932d-762cb857d6c1","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347667054}' AS BLOB), CAST('{"transactionId":"433162444224576","originalTransactionId":"433162444224576","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347667054,"originalPurchaseDate":1795347667054,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347667054,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192553598232"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (10, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"ff5b8e0d-3d2d-4a29-9f2f-b14dcfe6aba9","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347667110}' AS BLOB), CAST('{"transactionId":"433162444315641","originalTransactionId":"433162444315641","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347667110,"originalPurchaseDate":1795347667110,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347667110,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192554316581"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (11, CAST('{"notificationType":"CONSUMPTION_REQUEST","notificationUUID":"3e692bbb-348f-4401-9049-d60d8964bd44","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1","consumptionRequestReason":"UNINTENDED_PURCHASE"},"version":"2.0","signedDate":1795347667124}' AS BLOB), CAST('{"transactionId":"433162444315641","originalTransactionId":"433162444315641","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347667110,"originalPurchaseDate":1795347667110,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347667124,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192554316581"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (12, CAST('{"notificationType":"CONSUMPTION_REQUEST","notificationUUID":"00a99c48-fc1a-4d04-a889-b9e90dbf6882","data":{"environment":"Sandbox","bundleId":"com.example.coins","bundleVersion":"1","consumptionRequestReason":"UNINTENDED_PURCHASE"},"version":"2.0","signedDate":1795347667241}' AS BLOB), CAST('{"transactionId":"2000000204946162","originalTransactionId":"2000000204946162","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347667238,"originalPurchaseDate":1795347667238,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347667241,"environment":"Sandbox","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192554494044"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (13, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"8881cfba-691e-4ef8-98e4-d3aba3393c77","data":{"environment":"Sandbox","bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347667238}' AS BLOB), CAST('{"transactionId":"2000000204946162","originalTransactionId":"2000000204946162","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347667238,"originalPurchaseDate":1795347667238,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347667238,"environment":"Sandbox","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192554494044"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (14, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"528cf2fc-67c1-472e-83e7-57a0dc04314a","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347667355}' AS BLOB), CAST('{"transactionId":"433162444397018","originalTransactionId":"433162444397018","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347667355,"originalPurchaseDate":1795347667355,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347667355,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192555253250"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (15, CAST('{"notificationType":"RESCIND_CONSENT","notificationUUID":"54c9ef6b-0ae5-4314-8056-c584f1536b2e","version":"2.0","signedDate":1795347667377,"appData":{"appAppleId":1234567890,"bundleId":"com.example.coins","environment":"Production"}}' AS BLOB), NULL, NULL, CAST('{"receiptType":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","applicationVersion":"1.0","versionExternalIdentifier":0,"receiptCreationDate":1795347667377,"originalPurchaseDate":1795347667355,"originalApplicationVersion":"1.0","appTransactionId":"704165192555253250","originalPlatform":"iOS"}' AS BLOB), 'e30.e30.c2lnbmVk', NULL, NULL, 'e30.e30.c2lnbmVk'),
    (16, CAST('{"notificationType":"CONSUMPTION_REQUEST","notificationUUID":"73bfe840-e3b5-4d14-8968-30350cf290bc","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1","consumptionRequestReason":"UNINTENDED_PURCHASE"},"version":"2.0","signedDate":1795347668395}' AS BLOB), CAST('{"transactionId":"433162444397018","originalTransactionId":"433162444397018","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347667355,"originalPurchaseDate":1795347667355,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347668395,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192555253250"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (17, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"75d0a0d8-50b8-4a3c-b7a9-bf6706078b15","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347668513}' AS BLOB), CAST('{"transactionId":"433162444442589","originalTransactionId":"433162444442589","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347668513,"originalPurchaseDate":1795347668513,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347668513,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192555908144"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (18, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"161ddbd6-2166-47cb-b93f-af79844ccd47","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347668651}' AS BLOB), CAST('{"transactionId":"433162444535666","originalTransactionId":"433162444535666","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347668651,"originalPurchaseDate":1795347668651,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347668651,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192556767891"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (19, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"9c3e432a-2f7a-41c0-b106-002f0b70673f","data":{"environment":"Sandbox","bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347668698}' AS BLOB), CAST('{"transactionId":"2000000204946235","originalTransactionId":"2000000204946235","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347668698,"originalPurchaseDate":1795347668698,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347668698,"environment":"Sandbox","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192557156260"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (20, CAST('{"notificationType":"CONSUMPTION_REQUEST","notificationUUID":"13473ef5-236b-4d05-8aa2-feb697728a78","data":{"environment":"Sandbox","bundleId":"com.example.coins","bundleVersion":"1","consumptionRequestReason":"UNINTENDED_PURCHASE"},"version":"2.0","signedDate":1795347668732}' AS BLOB), CAST('{"transactionId":"2000000204946235","originalTransactionId":"2000000204946235","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347668698,"originalPurchaseDate":1795347668698,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347668732,"environment":"Sandbox","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192557156260"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (21, CAST('{"notificationType":"TEST","notificationUUID":"3110ad04-c500-4738-a652-1e0ff57d48f3","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins"},"version":"2.0","signedDate":1795347672945}' AS BLOB), NULL, NULL, NULL, 'e30.e30.c2lnbmVk', NULL, NULL, NULL),
    (22, CAST('{"notificationType":"ONE_TIME_CHARGE","notificationUUID":"3013cba1-ff91-4e29-abc3-0c8b8f0ac178","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1"},"version":"2.0","signedDate":1795347735057}' AS BLOB), CAST('{"transactionId":"433162444626594","originalTransactionId":"433162444626594","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347735057,"originalPurchaseDate":1795347735057,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347735057,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192557796885"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (23, CAST('{"notificationType":"CONSUMPTION_REQUEST","notificationUUID":"2aa4590b-d5d9-4cd2-ac3a-a27608fda6ee","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1","consumptionRequestReason":"UNINTENDED_PURCHASE"},"version":"2.0","signedDate":1795347735065}' AS BLOB), CAST('{"transactionId":"433162444626594","originalTransactionId":"433162444626594","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795347735057,"originalPurchaseDate":1795347735057,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795347735065,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192557796885"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL),
    (24, CAST('{"notificationType":"CONSUMPTION_REQUEST","notificationUUID":"5c0f5d3a-6a5e-4c7b-9d0e-7b1d6f3f2a41","data":{"environment":"Production","appAppleId":1234567890,"bundleId":"com.example.coins","bundleVersion":"1","consumptionRequestReason":"UNINTENDED_PURCHASE"},"version":"2.0","signedDate":1795304400000}' AS BLOB), CAST('{"transactionId":"433162444712043","originalTransactionId":"433162444712043","bundleId":"com.example.coins","productId":"gems.100","purchaseDate":1795300000000,"originalPurchaseDate":1795300000000,"quantity":1,"type":"Consumable","inAppOwnershipType":"PURCHASED","signedDate":1795304400000,"environment":"Production","storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE","currency":"EUR","price":4990,"appTransactionId":"704165192558100472"}' AS BLOB), NULL, NULL, 'e30.e30.c2lnbmVk', 'e30.e30.c2lnbmVk', NULL, NULL);
INSERT INTO quarantine (position, app, uuid, fault, receivedAt, signed) VALUES
    (1, 'coins', NULL, 'bundleId is not the app''s', 1795347667386, 'e30.e30.c2lnbmVk');
INSERT INTO refundCase (id, app, environment, transactionId, originalTransactionId, appTransactionId, appAccountToken, productId, productType, purchaseDate, isFamilyShared, isAdvancedCommerce, owner, state, reason, requestedAt, openedAt, deadline, declineCaller, declineNote, declineAt, outcome, decidedAt, closedAt) VALUES
    ('01a2030f-560b-782f-91a2-fb3264d0757a', 'coins', 'Production', '433162444007201', '433162444007201', '704165192550960786', NULL, 'gems.100', 'Consumable', 1795347666392, 0, 0, CAST('alice' AS BLOB), 'answered', 'UNINTENDED_PURCHASE', 1795347666429, 1795347666435, 1795390866429, NULL, NULL, NULL, NULL, NULL, 1795347666552),
    ('01a2030f-569e-7fff-bdc1-661bf4518ddf', 'coins', 'Production', '433162444102915', '433162444102915', '704165192551124607', NULL, 'gems.100', 'Consumable', 1795347666570, 0, 0, CAST('adam' AS BLOB), 'decided', 'UNINTENDED_PURCHASE', 1795347666580, 1795347666587, 1795390866580, NULL, NULL, NULL, 'refundDeclined', 1795347666712, 1795347666722),
    ('01a2030f-57a1-7f94-a06d-a9dfb1de6938', 'coins', 'Sandbox', '2000000204946085', '2000000204946085', '704165192552036292', NULL, 'gems.100', 'Consumable', 1795347666828, 0, 0, CAST('bob' AS BLOB), 'declined', 'UNINTENDED_PURCHASE', 1795347666838, 1795347666844, 1795390866838, 'billing', CAST('no consent' AS BLOB), 1795347666952, NULL, NULL, 1795347666952),
    ('01a2030f-58c7-77cf-8dad-23fba329545e', 'coins', 'Production', '433162444315641', '433162444315641', '704165192554316581', NULL, 'gems.100', 'Consumable', 1795347667110, 0, 0, CAST('gina' AS BLOB), 'open', 'UNINTENDED_PURCHASE', 1795347667124, 1795347667131, 1795390867124, NULL, NULL, NULL, NULL, NULL, NULL),
    ('01a2030f-5931-789d-aaed-e5b5d7c66572', 'coins', 'Sandbox', '2000000204946162', '2000000204946162', '704165192554494044', NULL, 'gems.100', 'Consumable', 1795347667238, 0, 0, NULL, 'open', 'UNINTENDED_PURCHASE', 1795347667241, 1795347667246, 1795390867241, NULL, NULL, NULL, NULL, NULL, NULL),
    ('01a2030f-5db3-730c-bd0d-115c1cdb950f', 'coins', 'Production', '433162444397018', '433162444397018', '704165192555253250', NULL, 'gems.100', 'Consumable', 1795347667355, 0, 0, CAST('leo' AS BLOB), 'open', 'UNINTENDED_PURCHASE', 1795347668395, 1795347668400, 1795390868395, NULL, NULL, NULL, NULL, NULL, NULL),
    ('01a2030f-5f0b-7d56-8daa-d0e28204c3e3', 'coins', 'Sandbox', '2000000204946235', '2000000204946235', '704165192557156260', NULL, 'gems.100', 'Consumable', 1795347668698, 0, 0, CAST('erin' AS BLOB), 'open', 'UNINTENDED_PURCHASE', 1795347668732, 1795347668739, 1795390868732, NULL, NULL, NULL, NULL, NULL, NULL),
    ('01a20310-6223-7255-b6a8-a37d29dbc436', 'coins', 'Production', '433162444626594', '433162444626594', '704165192557796885', NULL, 'gems.100', 'Consumable', 1795347735057, 0, 0, CAST('jack' AS BLOB), 'open', 'UNINTENDED_PURCHASE', 1795347735065, 1795347735073, 1795390935065, NULL, NULL, NULL, NULL, NULL, NULL),
    ('01a20310-756f-7a3c-9b1e-4d5f60718293', 'coins', 'Production', '433162444712043', '433162444712043', '704165192558100472', NULL, 'gems.100', 'Consumable', 1795300000000, 0, 0, CAST('mia' AS BLOB), 'expired', 'UNINTENDED_PURCHASE', 1795304400000, 1795347740000, 1795347600000, NULL, NULL, NULL, NULL, NULL, 1795347745004);
INSERT INTO caseRequest (caseId, signedAt, notificationUuid, receivedAt, reason) VALUES
    ('01a2030f-560b-782f-91a2-fb3264d0757a', 1795347666429, '9d7d3766-49c3-4bee-898b-67db85ab0aa1', 1795347666435, 'UNINTENDED_PURCHASE'),
    ('01a2030f-569e-7fff-bdc1-661bf4518ddf', 1795347666580, '1f642fb4-b628-41d1-bf5e-2e33f473659f', 1795347666587, 'UNINTENDED_PURCHASE'),
    ('01a2030f-57a1-7f94-a06d-a9dfb1de6938', 1795347666838, 'fb687353-be1b-45da-83c4-a4026790e4bf', 1795347666844, 'UNINTENDED_PURCHASE'),
    ('01a2030f-58c7-77cf-8dad-23fba329545e', 1795347667124, '3e692bbb-348f-4401-9049-d60d8964bd44', 1795347667131, 'UNINTENDED_PURCHASE'),
    ('01a2030f-5931-789d-aaed-e5b5d7c66572', 1795347667241, '00a99c48-fc1a-4d04-a889-b9e90dbf6882', 1795347667246, 'UNINTENDED_PURCHASE'),
    ('01a2030f-5db3-730c-bd0d-115c1cdb950f', 1795347668395, '73bfe840-e3b5-4d14-8968-30350cf290bc', 1795347668400, 'UNINTENDED_PURCHASE'),
    ('01a2030f-5f0b-7d56-8daa-d0e28204c3e3', 1795347668732, '13473ef5-236b-4d05-8aa2-feb697728a78', 1795347668739, 'UNINTENDED_PURCHASE'),
    ('01a20310-6223-7255-b6a8-a37d29dbc436', 1795347735065, '2aa4590b-d5d9-4cd2-ac3a-a27608fda6ee', 1795347735073, 'UNINTENDED_PURCHASE'),
    ('01a20310-756f-7a3c-9b1e-4d5f60718293', 1795304400000, '5c0f5d3a-6a5e-4c7b-9d0e-7b1d6f3f2a41', 1795347740000, 'UNINTENDED_PURCHASE');
INSERT INTO event (position, app, kind, subject, at, environment, transactionId, user, caseId, detail, notificationType, subtype) VALUES
    (1, 'coins', 'notification.received', 'cda5bb6e-b04f-4ba2-8099-73f47a3f5a05', 1795347666404, 'Production', '433162444007201', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (2, 'coins', 'notification.received', '9d7d3766-49c3-4bee-898b-67db85ab0aa1', 1795347666435, 'Production', '433162444007201', NULL, NULL, NULL, 'CONSUMPTION_REQUEST', NULL),
    (3, 'coins', 'case.opened', '01a2030f-560b-782f-91a2-fb3264d0757a', 1795347666443, 'Production', '433162444007201', CAST('alice' AS BLOB), '01a2030f-560b-782f-91a2-fb3264d0757a', NULL, NULL, NULL),
    (4, 'coins', 'delivery.queued', '01a2030f-5670-70c8-92bc-5b8c5a080eb6', 1795347666544, 'Production', '433162444007201', CAST('alice' AS BLOB), '01a2030f-560b-782f-91a2-fb3264d0757a', NULL, NULL, NULL),
    (5, 'coins', 'delivery.accepted', '01a2030f-5670-70c8-92bc-5b8c5a080eb6', 1795347666552, 'Production', '433162444007201', CAST('alice' AS BLOB), '01a2030f-560b-782f-91a2-fb3264d0757a', NULL, NULL, NULL),
    (6, 'coins', 'case.answered', '01a2030f-560b-782f-91a2-fb3264d0757a', 1795347666552, 'Production', '433162444007201', CAST('alice' AS BLOB), '01a2030f-560b-782f-91a2-fb3264d0757a', NULL, NULL, NULL),
    (7, 'coins', 'notification.received', 'c693fa1c-43d4-4762-86b5-f0606b1359fd', 1795347666576, 'Production', '433162444102915', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (8, 'coins', 'notification.received', '1f642fb4-b628-41d1-bf5e-2e33f473659f', 1795347666587, 'Production', '433162444102915', NULL, NULL, NULL, 'CONSUMPTION_REQUEST', NULL),
    (9, 'coins', 'case.opened', '01a2030f-569e-7fff-bdc1-661bf4518ddf', 1795347666590, 'Production', '433162444102915', CAST('adam' AS BLOB), '01a2030f-569e-7fff-bdc1-661bf4518ddf', NULL, NULL, NULL),
    (10, 'coins', 'delivery.queued', '01a2030f-5704-7c9e-8de9-900a5d934c14', 1795347666692, 'Production', '433162444102915', CAST('adam' AS BLOB), '01a2030f-569e-7fff-bdc1-661bf4518ddf', NULL, NULL, NULL),
    (11, 'coins', 'delivery.accepted', '01a2030f-5704-7c9e-8de9-900a5d934c14', 1795347666698, 'Production', '433162444102915', CAST('adam' AS BLOB), '01a2030f-569e-7fff-bdc1-661bf4518ddf', NULL, NULL, NULL),
    (12, 'coins', 'case.answered', '01a2030f-569e-7fff-bdc1-661bf4518ddf', 1795347666698, 'Production', '433162444102915', CAST('adam' AS BLOB), '01a2030f-569e-7fff-bdc1-661bf4518ddf', NULL, NULL, NULL),
    (13, 'coins', 'notification.received', 'd162956d-71de-4cfe-afe7-cc9da3b124c7', 1795347666719, 'Production', '433162444102915', NULL, NULL, NULL, 'REFUND_DECLINED', NULL),
    (14, 'coins', 'case.decided', '01a2030f-569e-7fff-bdc1-661bf4518ddf', 1795347666722, 'Production', '433162444102915', CAST('adam' AS BLOB), '01a2030f-569e-7fff-bdc1-661bf4518ddf', 'refundDeclined', NULL, NULL),
    (15, 'coins', 'notification.received', '34228631-9cc8-48ed-a04d-2cceeacdc39d', 1795347666835, 'Sandbox', '2000000204946085', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (16, 'coins', 'notification.received', 'fb687353-be1b-45da-83c4-a4026790e4bf', 1795347666844, 'Sandbox', '2000000204946085', NULL, NULL, NULL, 'CONSUMPTION_REQUEST', NULL),
    (17, 'coins', 'case.opened', '01a2030f-57a1-7f94-a06d-a9dfb1de6938', 1795347666849, 'Sandbox', '2000000204946085', CAST('bob' AS BLOB), '01a2030f-57a1-7f94-a06d-a9dfb1de6938', NULL, NULL, NULL),
    (18, 'coins', 'case.declined', '01a2030f-57a1-7f94-a06d-a9dfb1de6938', 1795347666952, 'Sandbox', '2000000204946085', CAST('bob' AS BLOB), '01a2030f-57a1-7f94-a06d-a9dfb1de6938', NULL, NULL, NULL),
    (19, 'coins', 'notification.received', '3185761b-8241-46be-8919-09bda68a333f', 1795347666987, 'Production', '433162444200019', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (20, 'coins', 'notification.received', '4e10d244-c212-434e-932d-762cb857d6c1', 1795347667060, 'Production', '433162444224576', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (21, 'coins', 'delivery.queued', '01a2030f-588a-7239-9579-037ad2ec5534', 1795347667082, 'Production', '433162444224576', NULL, NULL, NULL, NULL, NULL),
    (22, 'coins', 'delivery.refused', '01a2030f-588a-7239-9579-037ad2ec5534', 1795347667102, 'Production', '433162444224576', NULL, NULL, 'apple-rejected', NULL, NULL),
    (23, 'coins', 'notification.received', 'ff5b8e0d-3d2d-4a29-9f2f-b14dcfe6aba9', 1795347667117, 'Production', '433162444315641', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (24, 'coins', 'notification.received', '3e692bbb-348f-4401-9049-d60d8964bd44', 1795347667131, 'Production', '433162444315641', NULL, NULL, NULL, 'CONSUMPTION_REQUEST', NULL),
    (25, 'coins', 'case.opened', '01a2030f-58c7-77cf-8dad-23fba329545e', 1795347667143, 'Production', '433162444315641', CAST('gina' AS BLOB), '01a2030f-58c7-77cf-8dad-23fba329545e', NULL, NULL, NULL),
    (26, 'coins', 'notification.received', '00a99c48-fc1a-4d04-a889-b9e90dbf6882', 1795347667246, 'Sandbox', '2000000204946162', NULL, NULL, NULL, 'CONSUMPTION_REQUEST', NULL),
    (27, 'coins', 'notification.received', '8881cfba-691e-4ef8-98e4-d3aba3393c77', 1795347667247, 'Sandbox', '2000000204946162', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (28, 'coins', 'case.opened', '01a2030f-5931-789d-aaed-e5b5d7c66572', 1795347667249, 'Sandbox', '2000000204946162', NULL, '01a2030f-5931-789d-aaed-e5b5d7c66572', NULL, NULL, NULL),
    (29, 'coins', 'notification.received', '528cf2fc-67c1-472e-83e7-57a0dc04314a', 1795347667362, 'Production', '433162444397018', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (30, 'coins', 'notification.received', '54c9ef6b-0ae5-4314-8056-c584f1536b2e', 1795347667384, 'Production', NULL, NULL, NULL, NULL, 'RESCIND_CONSENT', NULL),
    (31, 'coins', 'notification.received', '73bfe840-e3b5-4d14-8968-30350cf290bc', 1795347668400, 'Production', '433162444397018', NULL, NULL, NULL, 'CONSUMPTION_REQUEST', NULL),
    (32, 'coins', 'case.opened', '01a2030f-5db3-730c-bd0d-115c1cdb950f', 1795347668403, 'Production', '433162444397018', CAST('leo' AS BLOB), '01a2030f-5db3-730c-bd0d-115c1cdb950f', NULL, NULL, NULL),
    (33, 'coins', 'notification.received', '75d0a0d8-50b8-4a3c-b7a9-bf6706078b15', 1795347668519, 'Production', '433162444442589', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (34, 'coins', 'delivery.queued', '01a2030f-5ea5-74bc-bc96-ce1d28edc113', 1795347668645, NULL, '433162444442589', NULL, NULL, NULL, NULL, NULL),
    (35, 'coins', 'notification.received', '161ddbd6-2166-47cb-b93f-af79844ccd47', 1795347668659, 'Production', '433162444535666', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (36, 'coins', 'delivery.queued', '01a2030f-5eb9-7e0b-acee-12e2104b497d', 1795347668665, NULL, '433162444535666', NULL, NULL, NULL, NULL, NULL),
    (37, 'coins', 'delivery.cancelled', '01a2030f-5eb9-7e0b-acee-12e2104b497d', 1795347668688, NULL, '433162444535666', NULL, NULL, 'delivery-ended', NULL, NULL),
    (38, 'coins', 'notification.received', '9c3e432a-2f7a-41c0-b106-002f0b70673f', 1795347668703, 'Sandbox', '2000000204946235', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (39, 'coins', 'notification.received', '13473ef5-236b-4d05-8aa2-feb697728a78', 1795347668739, 'Sandbox', '2000000204946235', NULL, NULL, NULL, 'CONSUMPTION_REQUEST', NULL),
    (40, 'coins', 'case.opened', '01a2030f-5f0b-7d56-8daa-d0e28204c3e3', 1795347668747, 'Sandbox', '2000000204946235', CAST('erin' AS BLOB), '01a2030f-5f0b-7d56-8daa-d0e28204c3e3', NULL, NULL, NULL),
    (41, 'coins', 'delivery.queued', '01a2030f-5f6d-70d9-95ce-4991ba0d295a', 1795347668845, 'Sandbox', '2000000204946235', CAST('erin' AS BLOB), '01a2030f-5f0b-7d56-8daa-d0e28204c3e3', NULL, NULL, NULL),
    (42, 'coins', 'delivery.expired', '01a2030f-5ea5-74bc-bc96-ce1d28edc113', 1795347672843, 'Production', '433162444442589', NULL, NULL, 'deadline-exceeded', NULL, NULL),
    (43, 'coins', 'notification.received', '3110ad04-c500-4738-a652-1e0ff57d48f3', 1795347672951, 'Production', NULL, NULL, NULL, NULL, 'TEST', NULL),
    (44, 'coins', 'notification.received', '3013cba1-ff91-4e29-abc3-0c8b8f0ac178', 1795347735063, 'Production', '433162444626594', NULL, NULL, NULL, 'ONE_TIME_CHARGE', NULL),
    (45, 'coins', 'notification.received', '2aa4590b-d5d9-4cd2-ac3a-a27608fda6ee', 1795347735073, 'Production', '433162444626594', NULL, NULL, NULL, 'CONSUMPTION_REQUEST', NULL),
    (46, 'coins', 'case.opened', '01a20310-6223-7255-b6a8-a37d29dbc436', 1795347735075, 'Production', '433162444626594', CAST('jack' AS BLOB), '01a20310-6223-7255-b6a8-a37d29dbc436', NULL, NULL, NULL),
    (47, 'coins', 'delivery.queued', '01a20310-6289-78d2-a736-c04a92753457', 1795347735177, 'Production', '433162444626594', CAST('jack' AS BLOB), '01a20310-6223-7255-b6a8-a37d29dbc436', NULL, NULL, NULL),
    (48, 'coins', 'notification.received', '5c0f5d3a-6a5e-4c7b-9d0e-7b1d6f3f2a41', 1795347740000, 'Production', '433162444712043', NULL, NULL, NULL, 'CONSUMPTION_REQUEST', NULL),
    (49, 'coins', 'case.opened', '01a20310-756f-7a3c-9b1e-4d5f60718293', 1795347740011, 'Production', '433162444712043', CAST('mia' AS BLOB), '01a20310-756f-7a3c-9b1e-4d5f60718293', NULL, NULL, NULL),
    (50, 'coins', 'case.expired', '01a20310-756f-7a3c-9b1e-4d5f60718293', 1795347745004, 'Production', '433162444712043', CAST('mia' AS BLOB), '01a20310-756f-7a3c-9b1e-4d5f60718293', NULL, NULL, NULL);
INSERT INTO historyProgress (app, environment, completeUntil, pass, windowStart, windowEnd, paginationToken) VALUES
    ('coins', 'Production', 1795347666306, NULL, NULL, NULL, NULL),
    ('coins', 'Sandbox', 1795347666307, NULL, NULL, NULL, NULL);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (name, seq) VALUES ('callerKey', 1);
INSERT INTO sqlite_sequence (name, seq) VALUES ('consent', 6);
INSERT INTO sqlite_sequence (name, seq) VALUES ('event', 50);
INSERT INTO sqlite_sequence (name, seq) VALUES ('link', 13);
INSERT INTO sqlite_sequence (name, seq) VALUES ('notification', 24);
INSERT INTO sqlite_sequence (name, seq) VALUES ('quarantine', 1);
COMMIT;
