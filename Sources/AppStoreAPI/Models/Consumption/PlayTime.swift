/// How long a customer has used an app.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/playtime
package struct PlayTime: OpenValue {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let undeclared = PlayTime(rawValue: 0)
    package static let upToFiveMinutes = PlayTime(rawValue: 1)
    package static let fiveToSixtyMinutes = PlayTime(rawValue: 2)
    package static let oneToSixHours = PlayTime(rawValue: 3)
    package static let sixHoursToOneDay = PlayTime(rawValue: 4)
    package static let oneToFourDays = PlayTime(rawValue: 5)
    package static let fourToSixteenDays = PlayTime(rawValue: 6)
    package static let overSixteenDays = PlayTime(rawValue: 7)

    package static let known = [
        undeclared, upToFiveMinutes, fiveToSixtyMinutes, oneToSixHours, sixHoursToOneDay, oneToFourDays,
        fourToSixteenDays, overSixteenDays,
    ]
}
