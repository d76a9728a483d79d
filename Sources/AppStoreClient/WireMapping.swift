import AppStoreAPI
import Domain
import JSON

// Our terms to Apple's: the only file that maps one set of types to the other.

extension UpstreamRequest {
    /// The call that sends a consumption answer.
    init(_ message: ConsumptionMessage) {
        switch message.version {
        case .v2: self.init(.sendConsumptionInformation(transactionId: message.transactionID), body: message.body)
        case .v1: self.init(.sendConsumptionInformationV1(transactionId: message.transactionID), body: message.body)
        }
    }
}

extension HistoryQuery {
    init(_ filter: HistoryFilter, revision: String?) {
        self.init()
        self.revision = revision
        startDate = filter.startDate
        endDate = filter.endDate
        productIds = filter.productIDs
        productTypes = filter.productTypes.compactMap { ProductTypeFilter(rawValue: $0.rawValue) }
        sort = filter.sort.flatMap { SortOrder(rawValue: $0.rawValue) }
        subscriptionGroupIdentifiers = filter.subscriptionGroupIdentifiers
        inAppOwnershipType = filter.inAppOwnershipType.map { InAppOwnershipType(rawValue: $0.rawValue) }
        revoked = filter.revoked
    }
}

extension FieldValue {
    /// The value as JSON; arrays and objects are refused before they come here.
    var json: JSONValue {
        switch self {
        case .null, .array, .object: .null
        case .boolean(let value): .bool(value)
        case .integer(let value): .number(JSONNumber(value))
        case .number(let value): JSONNumber(value).map(JSONValue.number) ?? .null
        case .string(let value): .string(value)
        }
    }
}

extension ConsumptionRequest {
    /// `customerConsented` is always true: without consent there is no answer to send.
    init(_ fields: ConsumptionV2) {
        self.init(
            customerConsented: true, deliveryStatus: DeliveryStatus(rawValue: fields.deliveryStatus.rawValue),
            sampleContentProvided: fields.sampleContentProvided, consumptionPercentage: fields.consumptionPercentage,
            refundPreference: fields.refundPreference.map { RefundPreference(rawValue: $0.rawValue) },
            additional: Dictionary(uniqueKeysWithValues: fields.additional.map { (UntrustedText($0), $1.json) }))
    }
}

extension ConsumptionRequestV1 {
    /// `customerConsented` is always true: without consent there is no answer to send.
    init(_ fields: ConsumptionV1) {
        self.init(
            accountTenure: fields.accountTenure, appAccountToken: fields.appAccountToken,
            consumptionStatus: fields.consumptionStatus, customerConsented: true,
            deliveryStatus: fields.deliveryStatus, lifetimeDollarsPurchased: fields.lifetimeDollarsPurchased,
            lifetimeDollarsRefunded: fields.lifetimeDollarsRefunded, platform: fields.platform,
            playTime: fields.playTime, refundPreference: fields.refundPreference,
            sampleContentProvided: fields.sampleContentProvided, userStatus: fields.userStatus)
    }
}

extension ExtendRenewalDateRequest {
    init(_ extension: RenewalExtension) {
        self.init {
            $0.extendByDays = `extension`.days
            $0.extendReasonCode = ExtendReasonCode(rawValue: `extension`.reasonCode)
            $0.requestIdentifier = `extension`.requestIdentifier
        }
    }
}

extension MassExtendRenewalDateRequest {
    init(_ mass: MassRenewalExtension) {
        self.init {
            $0.extendByDays = mass.extension.days
            $0.extendReasonCode = ExtendReasonCode(rawValue: mass.extension.reasonCode)
            $0.requestIdentifier = mass.extension.requestIdentifier
            $0.storefrontCountryCodes = mass.storefrontCountryCodes
            $0.productId = mass.productID
        }
    }
}

extension NotificationHistoryRequest {
    init(_ query: NotificationHistoryQuery) {
        self.init {
            $0.startDate = query.startDate
            $0.endDate = query.endDate
            $0.notificationType = query.notificationType.map(NotificationTypeV2.init(rawValue:))
            $0.notificationSubtype = query.notificationSubtype.map(Subtype.init(rawValue:))
            $0.transactionId = query.transactionID
            $0.onlyFailures = query.onlyFailures
        }
    }
}
