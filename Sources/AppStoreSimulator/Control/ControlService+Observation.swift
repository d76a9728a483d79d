import AppStoreAPI
import JSON

extension ControlService {
    /// What came in.
    static let observationRoutes = [
        ControlRoute("GET", "/received") { service, request throws(ControlError) in try service.received(request) },
        ControlRoute("DELETE", "/received") { service, _ in
            service.state.clearReceived()
            return OutgoingResponse(status: 204)
        },
    ]

    private func received(_ request: ControlRequest) throws(ControlError) -> OutgoingResponse {
        for item in request.query where !["environment", "endpoint", "bundleId", "after"].contains(item.name) {
            throw .invalid("there is no parameter \(item.name); there are environment, endpoint, bundleId, after")
        }
        let after = request.queryValue("after").map { Int($0) } ?? 0
        guard let after else { throw .invalid("after must be the number of a request") }
        let environment = request.queryValue("environment")
        let endpoint = request.queryValue("endpoint")
        let bundleID = request.queryValue("bundleId")
        let log = state.received
        let requests = log.requests.filter { entry in
            entry.number > after && (environment ?? entry.environment.rawValue) == entry.environment.rawValue
                && (endpoint == nil || endpoint == entry.operation?.name)
                && (bundleID == nil || bundleID == entry.bundleID)
        }
        return .json(
            200,
            [
                "received": .array(requests.map(\.json)), "counters": .array(log.counters),
                "dropped": .number(JSONNumber(log.dropped)),
            ])
    }
}

extension ReceivedRequest {
    fileprivate var json: JSONValue {
        let members: [(String, JSONValue?)] = [
            ("number", .number(JSONNumber(number))), ("arrival", .number(JSONNumber(arrival))),
            ("time", .number(JSONNumber(time))),
            ("environment", .string(environment.rawValue)), ("method", .string(method)), ("path", .string(path)),
            ("query", query.map { .string($0) }), ("endpoint", operation.map { .string($0.name) }),
            ("identifier", identifier.map { .string($0) }), ("bundleId", bundleID.map { .string($0) }),
            ("keyId", keyID.map { .string($0) }), ("body", body),
            ("bodyBytes", bodyCount.map { .number(JSONNumber($0)) }),
            ("status", status.map { .number(JSONNumber($0)) }),
            ("errorCode", errorCode.map { .number(JSONNumber($0)) }), ("reason", reason.map { .string($0) }),
            ("faults", .array(faults.map { .string($0) })),
        ]
        return .object(JSONObject(members.compactMap { name, value in value.map { (name, $0) } }))
    }
}

extension ReceivedLog {
    /// The counts, in a fixed order.
    fileprivate var counters: [JSONValue] {
        let rows = counts.map { subject, count in
            (
                environment: subject.environment.rawValue, endpoint: subject.operation?.name ?? "",
                status: subject.status ?? 0, count: count
            )
        }
        return rows.sorted { ($0.environment, $0.endpoint, $0.status) < ($1.environment, $1.endpoint, $1.status) }.map {
            row in
            [
                "environment": .string(row.environment), "endpoint": row.endpoint.isEmpty ? nil : .string(row.endpoint),
                "status": row.status == 0 ? nil : .number(JSONNumber(row.status)),
                "count": .number(JSONNumber(row.count)),
            ]
        }
    }
}
