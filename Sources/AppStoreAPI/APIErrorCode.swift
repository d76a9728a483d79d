/// The errors that the App Store Server API and the Retention Messaging API document, by Apple's names.
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

    // Retention Messaging API.
    case invalidImage = "InvalidImageError"
    case headerTooLong = "HeaderTooLongError"
    case bodyTooLong = "BodyTooLongError"
    case invalidLocale = "InvalidLocaleError"
    case altTextTooLong = "AltTextTooLongError"
    case invalidPerformanceTestRequest = "InvalidPerformanceTestRequestError"
    case invalidRequestId = "InvalidRequestIdError"
    case existingPerformanceTestRun = "ExistingPerformanceTestRunError"
    case badRequestRealtimeURL = "BadRequestRealtimeUrlError"
    case badRequestImageSize = "BadRequestImageSizeError"
    case badRequestTooManyBulletPoints = "BadRequestTooManyBulletPointsError"
    case badRequestBulletPointTextTooLong = "BadRequestBulletPointTextTooLongError"
    case badRequestAboveImageRequiresAnImage = "BadRequestAboveImageRequiresAnImageError"
    case maximumNumberOfImagesReached = "MaximumNumberOfImagesReachedError"
    case maximumNumberOfMessagesReached = "MaximumNumberOfMessagesReachedError"
    case messageNotApproved = "MessageNotApprovedError"
    case imageNotApproved = "ImageNotApprovedError"
    case imageInUse = "ImageInUseError"
    case forbiddenNoPassingTest = "ForbiddenNoPassingTestError"
    case imageNotFound = "ImageNotFoundError"
    case messageNotFound = "MessageNotFoundError"
    case performanceTestRunNotFound = "PerformanceTestRunNotFoundError"
    case defaultMessageNotFound = "DefaultMessageNotFoundError"
    case realtimeURLNotFound = "RealtimeUrlNotFoundError"
    case imageAlreadyExists = "ImageAlreadyExistsError"
    case messageAlreadyExists = "MessageAlreadyExistsError"

    // Named in Apple's pages without a number.
    case advancedCommerceTransactionNotSupported = "AdvancedCommerceTransactionNotSupportedError"
    case invalidRefundPreference = "InvalidRefundPreferenceError"
    case consumptionPercentageAutoRenewableSubscription = "ConsumptionPercentageAutoRenewableSubscriptionError"
    case consumptionPercentageOutOfRange = "ConsumptionPercentageOutOfRangeError"
    case undeliveredConsumptionPercentageNonZero = "UndeliveredConsumptionPercentageNonZeroError"

    // MARK: What it means

    /// Apple's name, such as `InvalidTransactionIdError`.
    package var name: String { rawValue }

    /// The HTTP status that goes with the error: the first three digits of its number.
    ///
    /// Apple names five errors without a number; all of them are about the content of a request, hence 400.
    package var httpStatus: Int { code.map { Int($0 / 10_000) } ?? 400 }

    /// Whether Apple says that the same request may succeed later.
    ///
    /// After ``rateLimitExceeded`` not before the time in `Retry-After`.
    package var isRetryable: Bool {
        switch self {
        case .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
            .rateLimitExceeded, .generalInternal, .generalInternalRetryable:
            true
        default:
            false
        }
    }

    /// Whether it is about the app that the token names, and not about what was asked of it.
    package var isAboutOurApp: Bool {
        switch self {
        case .invalidAppIdentifier, .appNotFound, .appNotFoundRetryable: true
        default: false
        }
    }

    /// Whether Apple has stopped sending it.
    package var isDeprecated: Bool {
        self == .invalidExcludeRevoked || self == .invalidTransactionNotConsumable
    }

    // MARK: Its number

    /// The number in `errorCode`, or nil for the names to which Apple publishes none.
    package var code: Int64? {
        switch self {
        case .generalBadRequest: 4_000_000
        case .invalidAppIdentifier: 4_000_002
        case .invalidRequestRevision: 4_000_005
        case .invalidTransactionId: 4_000_006
        case .invalidOriginalTransactionId: 4_000_008
        case .invalidExtendByDays: 4_000_009
        case .invalidExtendReasonCode: 4_000_010
        case .invalidRequestIdentifier: 4_000_011
        case .startDateTooFarInPast: 4_000_012
        case .startDateAfterEndDate: 4_000_013
        case .invalidPaginationToken: 4_000_014
        case .invalidStartDate: 4_000_015
        case .invalidEndDate: 4_000_016
        case .paginationTokenExpired: 4_000_017
        case .invalidNotificationType: 4_000_018
        case .multipleFiltersSupplied: 4_000_019
        case .invalidTestNotificationToken: 4_000_020
        case .invalidSort: 4_000_021
        case .invalidProductType: 4_000_022
        case .invalidProductId: 4_000_023
        case .invalidSubscriptionGroupIdentifier: 4_000_024
        case .invalidExcludeRevoked: 4_000_025
        case .invalidInAppOwnershipType: 4_000_026
        case .invalidEmptyStorefrontCountryCodeList: 4_000_027
        case .invalidStorefrontCountryCode: 4_000_028
        case .invalidRevoked: 4_000_030
        case .invalidStatus: 4_000_031
        case .invalidAccountTenure: 4_000_032
        case .invalidAppAccountToken: 4_000_033
        case .invalidConsumptionStatus: 4_000_034
        case .invalidCustomerConsented: 4_000_035
        case .invalidDeliveryStatus: 4_000_036
        case .invalidLifetimeDollarsPurchased: 4_000_037
        case .invalidLifetimeDollarsRefunded: 4_000_038
        case .invalidPlatform: 4_000_039
        case .invalidPlayTime: 4_000_040
        case .invalidSampleContentProvided: 4_000_041
        case .invalidUserStatus: 4_000_042
        case .invalidTransactionNotConsumable: 4_000_043
        case .invalidTransactionTypeNotSupported: 4_000_047
        case .appTransactionIdNotSupported: 4_000_048
        case .invalidAppAccountTokenUUID: 4_000_183
        case .familyTransactionNotSupported: 4_000_185
        case .transactionIdIsNotOriginalTransactionId: 4_000_187
        case .subscriptionExtensionIneligible: 4_030_004
        case .subscriptionMaxExtension: 4_030_005
        case .familySharedSubscriptionExtensionIneligible: 4_030_007
        case .accountNotFound: 4_040_001
        case .accountNotFoundRetryable: 4_040_002
        case .appNotFound: 4_040_003
        case .appNotFoundRetryable: 4_040_004
        case .originalTransactionIdNotFound: 4_040_005
        case .originalTransactionIdNotFoundRetryable: 4_040_006
        case .serverNotificationURLNotFound: 4_040_007
        case .testNotificationNotFound: 4_040_008
        case .statusRequestNotFound: 4_040_009
        case .transactionIdNotFound: 4_040_010
        case .appTransactionDoesNotExist: 4_040_019
        case .rateLimitExceeded: 4_290_000
        case .generalInternal: 5_000_000
        case .generalInternalRetryable: 5_000_001
        case .invalidImage: 4_000_161
        case .headerTooLong: 4_000_162
        case .bodyTooLong: 4_000_163
        case .invalidLocale: 4_000_164
        case .altTextTooLong: 4_000_175
        case .invalidPerformanceTestRequest: 4_000_211
        case .invalidRequestId: 4_000_212
        case .existingPerformanceTestRun: 4_000_213
        case .badRequestRealtimeURL: 4_000_215
        case .badRequestImageSize: 4_000_216
        case .badRequestTooManyBulletPoints: 4_000_218
        case .badRequestBulletPointTextTooLong: 4_000_219
        case .badRequestAboveImageRequiresAnImage: 4_000_224
        case .maximumNumberOfImagesReached: 4_030_014
        case .maximumNumberOfMessagesReached: 4_030_016
        case .messageNotApproved: 4_030_017
        case .imageNotApproved: 4_030_018
        case .imageInUse: 4_030_019
        case .forbiddenNoPassingTest: 4_030_026
        case .imageNotFound: 4_040_014
        case .messageNotFound: 4_040_015
        case .performanceTestRunNotFound: 4_040_018
        case .defaultMessageNotFound: 4_040_020
        case .realtimeURLNotFound: 4_040_021
        case .imageAlreadyExists: 4_090_000
        case .messageAlreadyExists: 4_090_001
        case .advancedCommerceTransactionNotSupported,
            .invalidRefundPreference,
            .consumptionPercentageAutoRenewableSubscription,
            .consumptionPercentageOutOfRange,
            .undeliveredConsumptionPercentageNonZero:
            nil
        }
    }

    /// The error of a number, or nil for one that is not in this list.
    package init?(code: Int64) {
        guard let known = Self.byNumber[code] else { return nil }
        self = known
    }

    /// The error of a name such as `InvalidTransactionIdError`, or nil for one that is not in this list.
    package init?(name: String) { self.init(rawValue: name) }

    private static let byNumber: [Int64: APIErrorCode] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { error in error.code.map { ($0, error) } })
}
