/// Whether a subscription will renew by itself.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/autorenewstatus
package struct AutoRenewStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let off = AutoRenewStatus(rawValue: 0)
    package static let on = AutoRenewStatus(rawValue: 1)

    package static let known = [off, on]
}
