import AppStoreAPI
import JSON
import TestSupport
import Testing

/// Every model, with input that no one would send on purpose.
struct WireModelFuzzTests {
    private static let oddities: [JSONValue] = [
        nil, true, -1, 1.5, "", "x", [], [nil], [[]], [["a": [:]]], [:], ["a": nil], 9_223_372_036_854_775_807,
    ]

    @Test func `a member of any type in any place neither traps nor changes what is written the second time`() throws {
        for (name, type) in try ModelCatalogue.models() {
            for oddity in Self.oddities {
                var object = JSONObject()
                for field in Self.fieldNames(of: type) { object[field] = oddity }
                object["unknown"] = oddity
                try Self.checkStable(JSONValue.object(object).serialized(), as: type, name)
            }
        }
    }

    @Test func `a value that is not known survives in every field of an enumeration`() throws {
        let samples = try SampleBuilder()
        for (name, type) in try ModelCatalogue.models() {
            for field in try samples.fields(of: name) {
                guard let values = samples.enumerations[field.type]?.array else { continue }
                let unknown: JSONValue = values.first?.string == nil ? 4711 : "INVENTED_TOMORROW"
                let body = JSONValue.object([field.name: unknown]).serialized()
                #expect(try Self.rewrite(body, as: type) == body, "\(name).\(field.name)")
            }
        }
    }

    @Test func `bytes changed at random are refused or read, and what was read is stable`() throws {
        let samples = try SampleBuilder()
        var generator = SeededRandom(seed: 20_260_601)
        for (name, type) in try ModelCatalogue.models().sorted(by: { $0.key < $1.key }) {
            let sample = try samples.object(name).serialized()
            for _ in 0..<20 {
                var bytes = sample
                for _ in 0..<Int.random(in: 1...4, using: &generator) { generator.damage(&bytes) }
                do {
                    try Self.checkStable(bytes, as: type, name)
                } catch is JSONError {
                    continue
                }
            }
        }
    }

    @Test func `many unknown members cost no more than their number`() throws {
        let members = (0..<20_000).map { #""m\#($0)":\#($0)"# }.joined(separator: ",")
        let response = try ErrorPayload(parsing: Array("{\(members)}".utf8))
        #expect(response.additional.count == 20_000)
        #expect(try ErrorPayload(parsing: response.serialized()) == response)
    }

    private static func fieldNames<Model: WireModel>(of type: Model.Type) -> [String] { type.fields.map(\.name) }

    private static func rewrite<Model: WireModel>(_ bytes: [UInt8], as type: Model.Type) throws -> [UInt8] {
        try type.init(parsing: bytes).serialized()
    }

    /// Reads, writes and reads again.
    private static func checkStable<Model: WireModel>(_ bytes: [UInt8], as type: Model.Type, _ name: String) throws {
        let model = try type.init(parsing: bytes)
        let written = model.serialized()
        let again = try type.init(parsing: written)
        #expect(again == model, "\(name): \(String(decoding: bytes, as: UTF8.self))")
        #expect(again.serialized() == written, "\(name)")
    }
}

extension SeededRandom {
    /// Replaces, inserts or removes a byte.
    mutating func damage(_ text: inout [UInt8]) {
        guard let position = text.indices.randomElement(using: &self) else { return }
        switch Int.random(in: 0..<3, using: &self) {
        case 0: text[position] = UInt8.random(in: .min ... .max, using: &self)
        case 1: text.remove(at: position)
        default: text.insert(Array("{}[]\",:0e-".utf8).randomElement(using: &self) ?? 0, at: position)
        }
    }
}
