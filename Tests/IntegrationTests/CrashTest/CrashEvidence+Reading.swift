import AppStoreAPI
import AppStoreSimulator
import Foundation
import JSON

extension SimulatorState {
    /// Consumption information that came in since this was asked last.
    func takeReceipts() -> [CrashEvidence.Receipt] {
        takeReceived().filter { $0.operation == .sendConsumptionInformation }.compactMap { request in
            guard let transaction = request.identifier, let body = request.consumption else { return nil }
            return CrashEvidence.Receipt(
                transactionID: transaction,
                arrival: Date(timeIntervalSince1970: Double(request.arrival) / 1000),
                end: Date(
                    timeIntervalSince1970: Double(
                        min(request.time, request.arrival + Int64(DaemonStage.AppleTimes.short.attempt * 1000))) / 1000),
                body: body, status: request.status,
                isTaken: request.status == 202 || request.status == nil && request.reason == nil)
        }
    }
}

extension CrashEvidence.Record {
    /// A delivery of the API.
    init(_ json: JSONValue) throws {
        func date(_ value: JSONValue?) throws -> Date {
            guard let text = value?.string else {
                throw DaemonStage.Failure(description: "no time in \(json)")
            }
            return try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        }
        self.init(
            id: json["id"]?.string ?? "", transactionID: json["transactionId"]?.string ?? "",
            state: json["state"]?.string ?? "", deadline: try date(json["deadline"]),
            attempts: try (json["attempts"]?.array ?? []).map { attempt in
                let startedAt = try date(attempt["startedAt"])
                return CrashEvidence.Attempt(
                    startedAt: startedAt,
                    endedAt: attempt["durationMilliseconds"]?.int64.map { startedAt + Double($0) / 1000 },
                    status: attempt["httpStatus"]?.int64.map { Int($0) })
            },
            mayHaveReachedApple: json["mayHaveReachedApple"]?.bool ?? false,
            reason: json["failure"]?["reason"]?.string)
    }
}
