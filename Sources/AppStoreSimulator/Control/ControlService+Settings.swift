import AppStoreAPI
import Foundation
import JSON

extension ControlService {
    /// The longest page, in transactions.
    private static let longestPage: Int64 = 10_000
    /// The longest window of a rate limit, in seconds: a day.
    private static let longestWindow: Int64 = 86_400

    /// How much and how often the servers answer.
    static let behaviourRoutes = [
        ControlRoute("GET", "/settings") { service, _ in
            .json(200, ["pageSize": .number(JSONNumber(service.state.pageSize))])
        },
        ControlRoute("PUT", "/settings") { service, request throws(ControlError) in
            let body = try request.body(["pageSize"])
            service.state.pageSize = try body.required("pageSize", body.integer("pageSize", in: 1...longestPage))
            return OutgoingResponse(status: 204)
        },
        ControlRoute("GET", "/rate-limits") { service, _ in
            .json(200, ["rateLimits": .array(service.state.rateLimits.map(\.json))])
        },
        ControlRoute("PUT", "/rate-limits") { service, request throws(ControlError) in
            service.state.rateLimits = try rateLimits(request)
            return OutgoingResponse(status: 204)
        },
        ControlRoute("DELETE", "/rate-limits") { service, _ in
            service.state.rateLimits = []
            return OutgoingResponse(status: 204)
        },
    ]

    private static func rateLimits(_ request: ControlRequest) throws(ControlError) -> [RateLimitRule] {
        let list = try request.body(["rateLimits"]).members["rateLimits"]?.array
        guard let list else { throw .invalid("rateLimits must be an array") }
        return try list.map { (element) throws(ControlError) in
            guard let members = element.object else { throw .invalid("a rate limit must be an object") }
            let body = try ControlBody(
                members, allowed: ["environment", "endpoint", "bundleId", "limit", "windowSeconds"])
            let window = try body.integer("windowSeconds", in: 1...longestWindow) ?? PublishedRateLimits.windowSeconds
            return RateLimitRule(
                environment: try body.environment(), operation: try body.operation(),
                bundleID: try body.string("bundleId"),
                limit: try body.required("limit", body.integer("limit", in: 0...1_000_000_000)),
                windowSeconds: Int64(window))
        }
    }

    // MARK: Clock

    /// The simulated time, and how fast it runs.
    static let clockRoutes = [
        ControlRoute("GET", "/clock") { service, _ in .json(200, service.clock) },
        ControlRoute("PUT", "/clock") { service, request throws(ControlError) in
            let body = try request.body(["scale", "advanceSeconds", "now"])
            let clock = service.state.clock
            guard !body.members.isEmpty else { throw .invalid("scale, advanceSeconds or now is missing") }
            if let scale = try body.number("scale") { try clock.setScale(scale) }
            if let milliseconds = try body.integer("now") {
                try clock.set(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
            }
            if let seconds = try body.number("advanceSeconds") { try clock.advance(by: seconds) }
            service.state.passTime()
            return .json(200, service.clock)
        },
    ]

    private var clock: JSONValue {
        [
            "now": .number(JSONNumber(state.milliseconds)),
            "scale": JSONNumber(state.clock.scale).map { .number($0) } ?? .null,
        ]
    }
}

extension RateLimitRule {
    fileprivate var json: JSONValue {
        var object: JSONObject = [:]
        object["environment"] = environment.map { .string($0.rawValue) }
        object["endpoint"] = operation.map { .string($0.name) }
        object["bundleId"] = bundleID.map { .string($0) }
        object["limit"] = .number(JSONNumber(limit))
        object["windowSeconds"] = .number(JSONNumber(windowSeconds))
        return .object(object)
    }
}
