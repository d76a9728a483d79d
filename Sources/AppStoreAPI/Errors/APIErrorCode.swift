/// The errors that the App Store Server API documents, by Apple's names.
///
/// Numbers that are not in this list occur too: Apple adds errors, so a number unknown here is kept as it is by whoever reads it.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/error-codes
package enum APIErrorCode: String, Sendable, Hashable, CaseIterable {
    // Malformed or invalid requests.
    case generalBadRequest = "GeneralBadRequestError"
    case invalidAppIdentifier = "InvalidAppIdentifierError"
    case invalidRequestRevision = "InvalidRequestRevisionError"
    case invalidTransactionId = "InvalidTransactionIdError"
    case invalidOriginalTransactionId = "InvalidOriginalTransactionIdError"
    case invalidExtendByDays = "InvalidExtendByDaysError"
    case invalidExtendReasonCode = "InvalidExtendReasonCodeError"
    case invalidRequestIdentifier = "InvalidRequestIdentifierError"
    case startDateTooFarInPast = "StartDateTooFarInPastError"
    case startDateAfterEndDate = "StartDateAfterEndDateError"
    case invalidPaginationToken = "InvalidPaginationTokenError"
    case invalidStartDate = "InvalidStartDateError"
    case invalidEndDate = "InvalidEndDateError"
    case paginationTokenExpired = "PaginationTokenExpiredError"
    case invalidNotificationType = "InvalidNotificationTypeError"
    case multipleFiltersSupplied = "MultipleFiltersSuppliedError"
    case invalidTestNotificationToken = "InvalidTestNotificationTokenError"
    case invalidSort = "InvalidSortError"
    case invalidProductType = "InvalidProductTypeError"
    case invalidProductId = "InvalidProductIdError"
    case invalidSubscriptionGroupIdentifier = "InvalidSubscriptionGroupIdentifierError"
    case invalidExcludeRevoked = "InvalidExcludeRevokedError"
    case invalidInAppOwnershipType = "InvalidInAppOwnershipTypeError"
    case invalidEmptyStorefrontCountryCodeList = "InvalidEmptyStorefrontCountryCodeListError"
    case invalidStorefrontCountryCode = "InvalidStorefrontCountryCodeError"
    case invalidRevoked = "InvalidRevokedError"
    case invalidStatus = "InvalidStatusError"
    case invalidAccountTenure = "InvalidAccountTenureError"
    case invalidAppAccountToken = "InvalidAppAccountTokenError"
    case invalidConsumptionStatus = "InvalidConsumptionStatusError"
    case invalidCustomerConsented = "InvalidCustomerConsentedError"
    case invalidDeliveryStatus = "InvalidDeliveryStatusError"
    case invalidLifetimeDollarsPurchased = "InvalidLifetimeDollarsPurchasedError"
    case invalidLifetimeDollarsRefunded = "InvalidLifetimeDollarsRefundedError"
    case invalidPlatform = "InvalidPlatformError"
    case invalidPlayTime = "InvalidPlayTimeError"
    case invalidSampleContentProvided = "InvalidSampleContentProvidedError"
    case invalidUserStatus = "InvalidUserStatusError"
    case invalidTransactionNotConsumable = "InvalidTransactionNotConsumableError"
    case invalidTransactionTypeNotSupported = "InvalidTransactionTypeNotSupportedError"
    case appTransactionIdNotSupported = "AppTransactionIdNotSupportedError"
    case invalidAppAccountTokenUUID = "InvalidAppAccountTokenUUIDError"
    case familyTransactionNotSupported = "FamilyTransactionNotSupportedError"
    case transactionIdIsNotOriginalTransactionId = "TransactionIdIsNotOriginalTransactionIdError"

    // Refused.
    case subscriptionExtensionIneligible = "SubscriptionExtensionIneligibleError"
    case subscriptionMaxExtension = "SubscriptionMaxExtensionError"
    case familySharedSubscriptionExtensionIneligible = "FamilySharedSubscriptionExtensionIneligibleError"

    // Not found.
    case accountNotFound = "AccountNotFoundError"
    case accountNotFoundRetryable = "AccountNotFoundRetryableError"
    case appNotFound = "AppNotFoundError"
    case appNotFoundRetryable = "AppNotFoundRetryableError"
    case originalTransactionIdNotFound = "OriginalTransactionIdNotFoundError"
    case originalTransactionIdNotFoundRetryable = "OriginalTransactionIdNotFoundRetryableError"
    case serverNotificationURLNotFound = "ServerNotificationURLNotFoundError"
    case testNotificationNotFound = "TestNotificationNotFoundError"
    case statusRequestNotFound = "StatusRequestNotFoundError"
    case transactionIdNotFound = "TransactionIdNotFoundError"
    case appTransactionDoesNotExist = "AppTransactionDoesNotExistError"

    // Too many.
    case rateLimitExceeded = "RateLimitExceededError"

    // Faults of the server.
    case generalInternal = "GeneralInternalError"
    case generalInternalRetryable = "GeneralInternalRetryableError"

    // Named in Apple's pages without a number.
    case advancedCommerceTransactionNotSupported = "AdvancedCommerceTransactionNotSupportedError"
    case invalidRefundPreference = "InvalidRefundPreferenceError"
    case consumptionPercentageAutoRenewableSubscription = "ConsumptionPercentageAutoRenewableSubscriptionError"
    case consumptionPercentageOutOfRange = "ConsumptionPercentageOutOfRangeError"
    case undeliveredConsumptionPercentageNonZero = "UndeliveredConsumptionPercentageNonZeroError"
}
