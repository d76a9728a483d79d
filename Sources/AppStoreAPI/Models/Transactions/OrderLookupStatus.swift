/// Whether an order ID is one of the app's.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/orderlookupstatus
package struct OrderLookupStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let valid = OrderLookupStatus(rawValue: 0)
    package static let invalid = OrderLookupStatus(rawValue: 1)

    package static let known = [valid, invalid]
}
