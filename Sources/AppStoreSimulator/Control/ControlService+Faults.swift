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
