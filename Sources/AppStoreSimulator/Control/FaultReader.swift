import AppStoreAPI

/// Reads faults that are sent to the control port.
enum FaultReader {
    /// The longest delay, in milliseconds: ten minutes.
    private static let longestLatency: Int64 = 600_000
    /// The largest error of the clock, in seconds: ten years.
    private static let largestSkew: Int64 = 315_360_000

    private static let commonFields = [
        "effect", "environment", "endpoint", "bundleId", "skip", "count", "probability",
    ]

    /// The members that an effect has beside those that every fault has.
    private static func fields(of effect: String) -> [String]? {
        switch effect {
        case "status": ["status", "errorCode", "errorMessage", "retryAfter"]
        case "latency": ["milliseconds"]
        case "connectionReset": ["afterProcessing"]
        case "clockSkew": ["seconds"]
        case "garbage", "truncatedBody": []
        default: Tampering(rawValue: effect) == nil ? nil : []
        }
    }

    static func fault(_ request: ControlRequest) throws(ControlError) -> Fault {
        let all = ["status", "latency", "connectionReset", "clockSkew", "garbage", "truncatedBody"]
        let name = try request.body(commonFields + all.flatMap { fields(of: $0) ?? [] }).requiredString("effect")
        guard let own = fields(of: name) else {
            let names = all + Tampering.allCases.map(\.rawValue)
            throw .invalid("effect must be one of \(names.joined(separator: ", "))")
        }
        let body = try request.body(commonFields + own)
        let probability = try body.number("probability") ?? 1
        guard 0...1 ~= probability else { throw .invalid("probability must be 0 to 1") }
        return Fault(
            try effect(name, body), environment: try body.environment(), operation: try body.operation(),
            bundleID: try body.string("bundleId"), skip: try body.integer("skip", in: 0...1_000_000_000) ?? 0,
            count: try body.integer("count", in: 1...1_000_000_000), probability: probability)
    }

    private static func effect(_ name: String, _ body: ControlBody) throws(ControlError) -> Fault.Effect {
        switch name {
        case "status":
            return .status(
                try body.required("status", body.integer("status", in: 200...599)),
                errorCode: try body.integer("errorCode"), errorMessage: try body.string("errorMessage"),
                retryAfter: try body.string("retryAfter"))
        case "latency":
            return .latency(
                milliseconds: try body.required("milliseconds", body.integer("milliseconds", in: 0...longestLatency)))
        case "connectionReset":
            return .connectionReset(afterProcessing: try body.bool("afterProcessing") ?? false)
        case "clockSkew":
            return .clockSkew(
                seconds: try body.required("seconds", body.integer("seconds", in: -largestSkew...largestSkew)))
        case "garbage":
            return .garbage
        case "truncatedBody":
            return .truncatedBody
        default:
            guard let tampering = Tampering(rawValue: name) else { throw .invalid("there is no effect \(name)") }
            return .tampering(tampering)
        }
    }
}
