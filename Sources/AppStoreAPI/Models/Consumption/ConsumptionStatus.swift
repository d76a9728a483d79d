/// How much of a purchase has been used up.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionstatus
package struct ConsumptionStatus: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = ConsumptionStatus(rawValue: 0)
    package static let notConsumed = ConsumptionStatus(rawValue: 1)
    package static let partiallyConsumed = ConsumptionStatus(rawValue: 2)
    /// Also what was traded away or moved to another account.
    package static let fullyConsumed = ConsumptionStatus(rawValue: 3)

    package static let known = [undeclared, notConsumed, partiallyConsumed, fullyConsumed]
}
