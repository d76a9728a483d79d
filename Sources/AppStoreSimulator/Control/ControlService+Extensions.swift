import AppStoreAPI
import JSON

extension ControlService {
    /// The slowest pace, in seconds for each subscription: a day.
    private static let slowestPace: Double = 86_400

    /// Mass extensions of renewal dates, and how long they take.
    static let extensionRoutes = [
        ControlRoute("GET", "/mass-extensions") { service, _ in
            service.state.passTime()
            let extensions = service.state.withContent { $0.world.massExtensions }
            return .json(200, ["massExtensions": .array(extensions.map(\.json))])
        },
        ControlRoute("GET", "/extension-settings") { service, _ in
            let seconds = JSONNumber(Double(service.state.massExtensionPace) / 1000)
            return .json(200, ["secondsPerSubscription": seconds.map { .number($0) } ?? .null])
        },
        ControlRoute("PUT", "/extension-settings") { service, request throws(ControlError) in
            let body = try request.body(["secondsPerSubscription"])
            let seconds = try body.required("secondsPerSubscription", body.number("secondsPerSubscription"))
            guard 0...slowestPace ~= seconds else {
                throw .invalid("secondsPerSubscription must be 0 to \(Int(slowestPace))")
            }
            service.state.massExtensionPace = Int64(seconds * 1000)
            return OutgoingResponse(status: 204)
        },
    ]
}

extension MassExtension {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "bundleId": .string(app.bundleID), "environment": .string(app.environment.rawValue),
            "requestIdentifier": .string(requestIdentifier), "productId": .string(productID),
            "extendByDays": .number(JSONNumber(days)), "pending": .number(JSONNumber(pending.count)),
            "succeededCount": .number(JSONNumber(succeededCount)), "failedCount": .number(JSONNumber(failedCount)),
        ]
        object["storefrontCountryCodes"] = storefronts.map { .array($0.map { .string($0) }) }
        object["completeDate"] = completeDate.map { .number(JSONNumber($0)) }
        return .object(object)
    }
}
