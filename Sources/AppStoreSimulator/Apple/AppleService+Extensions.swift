import AppStoreAPI
import Foundation
import JSON

extension AppleService {
    /// Extend a Subscription Renewal Date.
    func extendRenewalDate(
        _ identifier: String, _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let app = inEnvironment(app)
        let done = try state.withContent { content throws(AppleServiceError) in
            let record = try content.world.original(identifier, of: app)
            let request = try ExtensionRules.single(try members(of: call))
            let done = try content.world.extendRenewalDate(
                of: record, byDays: request.days, request.identifier, now: call.milliseconds)
            content.postEvents()
            return done
        }
        state.agendaChanged()
        let response = ExtendRenewalDateResponse {
            $0.originalTransactionId = identifier
            $0.webOrderLineItemId = done.lineItem
            $0.success = true
            $0.effectiveDate = done.effectiveDate
        }
        return .json(200, response.serialized())
    }

    /// Extend Subscription Renewal Dates for All Active Subscribers.
    func extendRenewalDates(_ app: RegisteredApp, _ call: AppleCall) throws(AppleServiceError) -> OutgoingResponse {
        let request = try ExtensionRules.mass(try members(of: call), of: inEnvironment(app))
        state.withContent { content in
            guard content.world.massExtension(request.requestIdentifier, of: request.app) == nil else { return }
            content.world.begin(request, now: call.milliseconds)
        }
        state.agendaChanged()
        let response = MassExtendRenewalDateResponse { $0.requestIdentifier = request.requestIdentifier }
        return .json(200, response.serialized())
    }

    /// Get Status of Subscription Renewal Date Extensions.
    func extensionStatus(_ parameters: [String], _ app: RegisteredApp) throws(AppleServiceError) -> OutgoingResponse {
        let identifier = try ExtensionRules.massIdentifier(parameters[1])
        let app = inEnvironment(app)
        let found = state.withContent { $0.world.massExtension(identifier, of: app) }
        guard let found, found.productID == parameters[0] else { throw .error(.statusRequestNotFound) }
        return .json(200, found.response.serialized())
    }
}

/// What Apple demands of the bodies of renewal-date extensions.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date
enum ExtensionRules {
    private static let days: ClosedRange<Int64> = 1...90
    private static let reasonCodes: ClosedRange<Int64> = 0...3
    /// The longest request identifier, in characters.
    private static let longestIdentifier = 128

    /// Checks the body for one subscription.
    ///
    /// - Throws: 4000009, 4000010 or 4000011.
    static func single(_ members: JSONMembers) throws(AppleServiceError) -> (days: Int64, identifier: String) {
        let days = try days(members)
        guard let identifier = members["requestIdentifier"]?.string?.streamSafe,
            1...longestIdentifier ~= identifier.count
        else {
            throw .error(.invalidRequestIdentifier)
        }
        return (days, identifier)
    }

    /// Checks the body for all subscribers.
    ///
    /// - Throws: 4000009, 4000010, 4000011, 4000023, 4000027 or 4000028.
    static func mass(_ members: JSONMembers, of app: AppInEnvironment) throws(AppleServiceError) -> MassExtension {
        let days = try days(members)
        let identifier = try massIdentifier(members["requestIdentifier"]?.string?.streamSafe)
        guard let productID = members["productId"]?.string?.streamSafe, !productID.isEmpty else {
            throw .error(.invalidProductId)
        }
        return MassExtension(
            app: app, requestIdentifier: identifier, productID: productID, days: days,
            storefronts: try storefronts(members["storefrontCountryCodes"]), pending: [])
    }

    /// The identifier of a mass extension in lower case.
    ///
    /// - Throws: 4000011.
    static func massIdentifier(_ text: String?) throws(AppleServiceError) -> String {
        guard let uuid = text.flatMap({ UUID(uuidString: $0) }) else { throw .error(.invalidRequestIdentifier) }
        return uuid.uuidString.lowercased()
    }

    private static func days(_ members: JSONMembers) throws(AppleServiceError) -> Int64 {
        guard let count = members["extendByDays"]?.int64, days.contains(count) else {
            throw .error(.invalidExtendByDays)
        }
        guard let reason = members["extendReasonCode"]?.int64, reasonCodes.contains(reason) else {
            throw .error(.invalidExtendReasonCode)
        }
        return count
    }

    private static func storefronts(_ value: JSONSlice?) throws(AppleServiceError) -> [String]? {
        guard let value, !value.isNull else { return nil }
        guard let list = value.array else { throw .error(.invalidStorefrontCountryCode) }
        guard !list.isEmpty else { throw .error(.invalidEmptyStorefrontCountryCodeList) }
        return try list.map { (element) throws(AppleServiceError) in
            guard let code = element.string?.streamSafe, CountryCodes.all.contains(code) else {
                throw .error(.invalidStorefrontCountryCode)
            }
            return code
        }
    }
}

/// The countries and regions by which Apple names its storefronts.
enum CountryCodes {
    /// Every ISO 3166-1 alpha-3 code, and XKS, which is Apple's for Kosovo.
    static let all = Set(table.split(whereSeparator: \.isWhitespace).map { String($0) })

    private static let table = """
        ABW AFG AGO AIA ALA ALB AND ARE ARG ARM ASM ATA ATF ATG AUS AUT AZE BDI BEL BEN BES BFA BGD BGR BHR BHS BIH
        BLM BLR BLZ BMU BOL BRA BRB BRN BTN BVT BWA CAF CAN CCK CHE CHL CHN CIV CMR COD COG COK COL COM CPV CRI CUB
        CUW CXR CYM CYP CZE DEU DJI DMA DNK DOM DZA ECU EGY ERI ESH ESP EST ETH FIN FJI FLK FRA FRO FSM GAB GBR GEO
        GGY GHA GIB GIN GLP GMB GNB GNQ GRC GRD GRL GTM GUF GUM GUY HKG HMD HND HRV HTI HUN IDN IMN IND IOT IRL IRN
        IRQ ISL ISR ITA JAM JEY JOR JPN KAZ KEN KGZ KHM KIR KNA KOR KWT LAO LBN LBR LBY LCA LIE LKA LSO LTU LUX LVA
        MAC MAF MAR MCO MDA MDG MDV MEX MHL MKD MLI MLT MMR MNE MNG MNP MOZ MRT MSR MTQ MUS MWI MYS MYT NAM NCL NER
        NFK NGA NIC NIU NLD NOR NPL NRU NZL OMN PAK PAN PCN PER PHL PLW PNG POL PRI PRK PRT PRY PSE PYF QAT REU ROU
        RUS RWA SAU SDN SEN SGP SGS SHN SJM SLB SLE SLV SMR SOM SPM SRB SSD STP SUR SVK SVN SWE SWZ SXM SYC SYR TCA
        TCD TGO THA TJK TKL TKM TLS TON TTO TUN TUR TUV TWN TZA UGA UKR UMI URY USA UZB VAT VCT VEN VGB VIR VNM VUT
        WLF WSM YEM ZAF ZMB ZWE XKS
        """
}
