import AppStoreAPI
import JSON

extension ControlService {
    /// What goes wrong on purpose.
    static let faultRoutes = [
        ControlRoute("GET", "/faults") { service, _ in
            let schedule = service.state.faults
            return .json(
                200,
                [
                    "seed": .number(JSONNumber(schedule.seed)), "faults": .array(schedule.entries.map(\.json)),
                ])
        },
        ControlRoute("POST", "/faults") { service, request throws(ControlError) in
            let id = try service.state.inject(FaultReader.fault(request))
            return .json(201, ["id": .string(id)])
        },
        ControlRoute("DELETE", "/faults") { service, _ in
            service.state.removeAllFaults()
            return OutgoingResponse(status: 204)
        },
        ControlRoute("DELETE", "/faults/{faultId}") { service, request throws(ControlError) in
            guard service.state.removeFault(request.parameters[0]) else {
                throw .notFound("there is no fault \(request.parameters[0])")
            }
            return OutgoingResponse(status: 204)
        },
        ControlRoute("PUT", "/faults/seed") { service, request throws(ControlError) in
            let body = try request.body(["seed"])
            guard let seed = UInt64(exactly: try body.requiredInteger("seed")) else {
                throw .invalid("seed must not be negative")
            }
            service.state.reseedFaults(seed)
            return OutgoingResponse(status: 204)
        },
    ]
}

extension FaultSchedule.Entry {
    fileprivate var json: JSONValue {
        var object: JSONObject = ["id": .string(id), "effect": .string(fault.effect.name)]
        for (name, value) in fault.effect.parameters { object[name] = value }
        object["environment"] = fault.environment.map { .string($0.rawValue) }
        object["endpoint"] = fault.operation.map { .string($0.name) }
        object["bundleId"] = fault.bundleID.map { .string($0) }
        object["probability"] = JSONNumber(fault.probability).map { .number($0) }
        object["skip"] = .number(JSONNumber(skipsLeft))
        object["count"] = hitsLeft.map { .number(JSONNumber($0)) }
        object["hits"] = .number(JSONNumber(hits))
        return .object(object)
    }
}

extension Fault.Effect {
    /// What the control port says about the effect beside its name.
    fileprivate var parameters: [(String, JSONValue)] {
        switch self {
        case .status(let status, let code, let message, let retryAfter):
            let all: [(String, JSONValue?)] = [
                ("status", .number(JSONNumber(status))), ("errorCode", code.map { .number(JSONNumber($0)) }),
                ("errorMessage", message.map { .string($0) }), ("retryAfter", retryAfter.map { .string($0) }),
            ]
            return all.compactMap { name, value in value.map { (name, $0) } }
        case .latency(let milliseconds): return [("milliseconds", .number(JSONNumber(milliseconds)))]
        case .connectionReset(let afterProcessing): return [("afterProcessing", .bool(afterProcessing))]
        case .clockSkew(let seconds): return [("seconds", .number(JSONNumber(seconds)))]
        case .garbage, .truncatedBody, .tampering: return []
        }
    }
}

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
