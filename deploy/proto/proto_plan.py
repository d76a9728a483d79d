"""What api/openapi.yaml does not say of its face in gRPC: services, and the few places where a schema is none of ours."""

# By file: the service that has these operations.
SERVICES = {
    "apps": ["listApps", "getLimits"],
    "users": ["getUserOverview", "eraseUser", "exportUser", "listUserRefunds", "listUserTransactions",
              "listUserSubscriptions", "getAuditPseudonym"],
    "consents": ["getConsent", "recordConsent"],
    "consumption": ["sendUserConsumption", "sendTransactionConsumption", "sendCaseConsumption"],
    "cases": ["listCases", "getCase", "declineCase", "getRefundReport"],
    "deliveries": ["listDeliveries", "getDelivery", "cancelDelivery", "releaseDeliveries"],
    "policies": ["getRefundPolicy", "tryRefundPolicy"],
    "usage": ["listUserUsage", "getUsage", "reportUsage", "reportUsageBatch"],
    "links": ["listUserLinks", "declareLink", "endLink", "importLinks"],
    "receipts": ["uploadReceipt", "listReceipts", "getReceipt", "extractTransactionId", "importReceipts"],
    "transactions": ["verifySignedData", "batchGetTransactions", "getTransaction", "getTransactionHistory",
                     "getTransactionRefunds", "getTransactionSubscriptions", "getAppTransaction", "setAppAccountToken",
                     "finishTransaction", "lookUpOrder"],
    "extensions": ["extendRenewalDate", "extendAllRenewalDates", "getRenewalExtensions"],
    "notifications": ["requestTestNotification", "getTestNotification", "queryAppleNotificationHistory",
                      "listNotifications", "forwardNotification", "getNotification", "replayNotification"],
    "events": ["listEvents"],
    "callbacks": ["listCallbacks", "addCallback", "getCallback", "changeCallback", "removeCallback",
                  "rotateCallbackSecret", "testCallback", "replayCallback", "listCallbackAttempts"],
    "signatures": ["signPromotionalOffer", "signIntroductoryOffer", "signAdvancedCommerce",
                   "signOriginalPromotionalOffer", "issueToken"],
    "callers": ["listCallers", "addCaller", "getCaller", "removeCaller", "grantScopes", "ungrantScopes",
                "rotateCallerToken", "revokeCallerToken", "bindCaller", "unbindCaller", "issueCallerKey",
                "revokeCallerKey"],
    "keys": ["listKeys", "rewrapKeys", "getKey", "deleteKey", "checkKey", "activateKey", "retireKey", "revokeKey"],
    "quarantine": ["listQuarantine", "getQuarantined", "retryQuarantine"],
    "operations": ["reloadConfiguration", "backUpStore", "checkStore", "getHealth"],
}

# Operations without a method, with the reason; a test holds every route against these.
LEFT_OUT = {
    "receiveNotification": "Apple posts to it, and knows no gRPC",
    "getLiveness": "grpc.health.v1 tells it",
    "getReadiness": "grpc.health.v1 tells it",
    "getMetrics": "Prometheus scrapes it",
    "importKey": "a private key becomes no message: its bytes are wiped where they arrive",
    "uploadReceiptOfAnyApp": "the form of another API, for its clients; UploadReceipt does the same",
}

# Parameters without a field.
LEFT_OUT_PARAMETERS = {
    # CSV is a file for people.
    ("getRefundReport", "format"),
}

# Variants of a body that are the same in another spelling.
LEFT_OUT_VARIANTS = {
    # Apple's own spelling of version 1, whose fields have the names of version 2 and other types; `apple_v1` says the same.
    "ConsumptionV1Flat",
}

# What Apple signed, by the name of the property that holds it.
APPLE_PAYLOADS = {
    "transaction": "JWSTransactionDecodedPayload",
    "renewalInfo": "JWSRenewalInfoDecodedPayload",
    "appTransaction": "AppTransaction",
    "notification": "ResponseBodyV2DecodedPayload",
    "realtimeRequest": "DecodedRealtimeRequestBody",
    "apple": "JWSTransactionDecodedPayload",
}

# Objects that another message describes.
FREE_FORM_MESSAGES = {"UserExport.Event.data": ".purser.v1.Event.Data"}

# What is kept byte for byte, and so stays JSON.
JSON_TEXTS = {"ReceiptUpload.metadata", "Receipt.metadata", "UserExport.Receipt.metadata", "ImportedReceipt.metadata"}

# Words whose plural is not formed with an s.
SINGULARS = {"deliveries": "delivery", "status": "status", "appleAnswers": "appleAnswer"}
