/// Whether the customer bought or the system renewed.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/transactionreason
package struct TransactionReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let purchase = TransactionReason(rawValue: "PURCHASE")
    package static let renewal = TransactionReason(rawValue: "RENEWAL")

    package static let known = [purchase, renewal]
}
