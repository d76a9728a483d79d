import AppStoreAPI
import Foundation
import JSON

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
    static func single(_ members: JSONMembers) throws(Refusal) -> (days: Int64, identifier: String) {
        let days = try days(members)
        guard let identifier = members["requestIdentifier"]?.string, 1...longestIdentifier ~= identifier.count else {
            throw .error(.invalidRequestIdentifier)
        }
        return (days, identifier)
    }

    /// Checks the body for all subscribers.
    ///
    /// - Throws: 4000009, 4000010, 4000011, 4000023, 4000027 or 4000028.
    static func mass(_ members: JSONMembers, of app: AppInEnvironment) throws(Refusal) -> MassExtension {
        let days = try days(members)
        let identifier = try massIdentifier(members["requestIdentifier"]?.string)
        guard let productID = members["productId"]?.string, !productID.isEmpty else {
            throw .error(.invalidProductId)
        }
        return MassExtension(
            app: app, requestIdentifier: identifier, productID: productID, days: days,
            storefronts: try storefronts(members["storefrontCountryCodes"]), pending: [])
    }

    /// The identifier of a mass extension in lower case.
    ///
    /// - Throws: 4000011.
    static func massIdentifier(_ text: String?) throws(Refusal) -> String {
        guard let uuid = text.flatMap({ UUID(uuidString: $0) }) else { throw .error(.invalidRequestIdentifier) }
        return uuid.uuidString.lowercased()
    }

    private static func days(_ members: JSONMembers) throws(Refusal) -> Int64 {
        guard let count = members["extendByDays"]?.int64, days.contains(count) else {
            throw .error(.invalidExtendByDays)
        }
        guard let reason = members["extendReasonCode"]?.int64, reasonCodes.contains(reason) else {
            throw .error(.invalidExtendReasonCode)
        }
        return count
    }

    private static func storefronts(_ value: JSONSlice?) throws(Refusal) -> [String]? {
        guard let value, !value.isNull else { return nil }
        guard let list = value.array else { throw .error(.invalidStorefrontCountryCode) }
        guard !list.isEmpty else { throw .error(.invalidEmptyStorefrontCountryCodeList) }
        return try list.map { (element) throws(Refusal) in
            guard let code = element.string, CountryCodes.all.contains(code) else {
                throw .error(.invalidStorefrontCountryCode)
            }
            return code
        }
    }
}
