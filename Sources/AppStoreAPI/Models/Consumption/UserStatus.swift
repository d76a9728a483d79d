/// What became of the customer's account with the company.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/userstatus
package struct UserStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = UserStatus(rawValue: 0)
    package static let active = UserStatus(rawValue: 1)
    package static let suspended = UserStatus(rawValue: 2)
    package static let terminated = UserStatus(rawValue: 3)
    package static let limitedAccess = UserStatus(rawValue: 4)

    package static let known = [undeclared, active, suspended, terminated, limitedAccess]
}
