package import Domain
package import Foundation

extension Transaction {
    /// A transaction with what a test cares about.
    package static func sample(
        id: String = "1000", original: String? = nil, webOrderLineItem: String? = nil, account: String? = nil,
        token: String? = nil, type: ProductType = .consumable, purchased: TimeInterval = 1000,
        signed: TimeInterval = 5000, revoked: TimeInterval? = nil, isFamilyShared: Bool = false,
        isAdvancedCommerce: Bool = false, environment: AppStoreEnvironment = .production
    ) -> Transaction {
        Transaction(
            transactionID: id, originalTransactionID: original ?? id, webOrderLineItemID: webOrderLineItem,
            appTransactionID: account, appAccountToken: token, productID: "gems", productType: type,
            purchaseDate: Date(timeIntervalSince1970: purchased), signedDate: Date(timeIntervalSince1970: signed),
            revocationDate: revoked.map(Date.init(timeIntervalSince1970:)), isFamilyShared: isFamilyShared,
            isAdvancedCommerce: isAdvancedCommerce, environment: environment,
            payload: Array(#"{"transactionId":"\#(id)"}"#.utf8), signed: "a.b.c")
    }
}

extension Link {
    /// A link with what a test cares about.
    package static func sample(
        _ kind: LinkTarget.Kind, _ value: String, user: String, environment: AppStoreEnvironment? = nil,
        source: LinkSource = .declared, from: TimeInterval? = nil, until: TimeInterval? = nil,
        created: TimeInterval = 100
    ) throws -> Link {
        Link(
            app: "coins", user: try UserID(user), target: LinkTarget(kind, value), environment: environment,
            source: source, validFrom: from.map(Date.init(timeIntervalSince1970:)),
            validUntil: until.map(Date.init(timeIntervalSince1970:)),
            createdAt: Date(timeIntervalSince1970: created), createdBy: "test")
    }
}
