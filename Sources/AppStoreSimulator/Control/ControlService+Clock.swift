import Foundation
import JSON

extension ControlService {
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
