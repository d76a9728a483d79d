import Foundation
import JSON
import TestSupport
import Testing

/// Foundation's parser as a second opinion on documents that chance has made.
///
/// The two may differ in what is listed in ``knownDifference(_:)`` and in nothing else.
struct JSONFoundationComparisonTests {
    @Test("Random documents mean the same to Foundation", arguments: 0..<8 as Range<UInt64>)
    func documents(_ seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        for _ in 0..<150 {
            let value = generator.value(depth: 4)
            let text = value.serialized(pretty: Bool.random(using: &generator))
            let ours = try JSONValue(parsing: text)
            #expect(ours == value)
            let theirs = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            #expect(same(ours, theirs), "seed \(seed): \(value)")
        }
    }

    @Test("Random damage is judged as Foundation judges it", arguments: 0..<8 as Range<UInt64>)
    func damagedDocuments(_ seed: UInt64) {
        var generator = SeededRandom(seed: seed &+ 1_000)
        var accepted = 0
        for _ in 0..<400 {
            var text = generator.value(depth: 3).serialized()
            for _ in 0..<Int.random(in: 1...2, using: &generator) { generator.damage(&text) }
            let ours = Result { () throws(JSONError) in try JSONValue(parsing: text) }
            let theirs = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            switch (ours, theirs) {
            case (.success(let ours), let theirs?):
                accepted += 1
                #expect(same(ours, theirs), "seed \(seed): \(text)")
            case (.failure(let error), .some):
                #expect(
                    knownDifference(error.reason), "seed \(seed): \(error) in \(String(decoding: text, as: UTF8.self))")
            case (.success(let ours), nil):
                #expect(holdsHugeNumber(ours), "seed \(seed): only we accept \(String(decoding: text, as: UTF8.self))")
            case (.failure, nil):
                break
            }
        }
        #expect(accepted > 0)
    }

    @Test(
        "A damaged payload is refused, or means in parts and spliced what it means to Foundation",
        arguments: 0..<8 as Range<UInt64>)
    func damagedPayloads(_ seed: UInt64) throws {
        var generator = SeededRandom(seed: seed &+ 2_000)
        var accepted = 0
        for _ in 0..<400 {
            var payload = generator.payload()
            for _ in 0..<Int.random(in: 1...2, using: &generator) { generator.damage(&payload) }
            let place: Comment = "seed \(seed): \(String(decoding: payload, as: UTF8.self))"
            let theirs = try? JSONSerialization.jsonObject(with: Data(payload), options: .fragmentsAllowed)
            let members: JSONMembers
            do throws(JSONError) {
                members = try JSONScanner.members(of: payload)
            } catch {
                #expect(!(theirs is [String: Any]) || knownDifference(error.reason), place)
                continue
            }
            guard let theirs = theirs as? [String: Any] else {
                #expect(members.contains { $0.value.value.map(holdsHugeNumber) == true }, place)
                continue
            }
            accepted += 1
            #expect(members.count == theirs.count, place)
            for (name, slice) in members { try compare(slice, theirs[name.streamSafe], place) }
            let spliced = spliced(members)
            #expect(try same(JSONValue(parsing: spliced), theirs), place)
            #expect((try? JSONSerialization.jsonObject(with: Data(spliced))) is [String: Any], place)
        }
        #expect(accepted > 50)
    }

    /// Reads one value by every accessor.
    private func compare(_ slice: JSONSlice, _ theirs: Any?, _ place: Comment) throws {
        let theirs = try #require(theirs, place)
        let ours = try #require(slice.value, place)
        #expect(same(ours, theirs), place)
        #expect(slice.string?.streamSafe == ours.string, place)
        #expect(slice.int64 == ours.int64, place)
        #expect(slice.double == ours.double, place)
        #expect(slice.bool == ours.bool, place)
        #expect(slice.isNull == (ours == .null), place)
        #expect(slice.array?.map(\.value) == ours.array, place)
        #expect(slice.object?.map(\.value.value) == ours.object?.members.map(\.value), place)
        #expect(slice.object?.keys.map(\.streamSafe) == ours.object?.members.map(\.key), place)
        #expect(try JSONValue(parsing: Array(slice.rawBytes)) == ours, place)
    }

    /// The members, copied one by one as they are written, as an answer is made of them.
    private func spliced(_ members: JSONMembers) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in members { writer.memberRaw(name, value.rawBytes) }
        }
        return writer.bytes
    }

    /// What Foundation lets through and we do not.
    private func knownDifference(_ reason: JSONError.Reason) -> Bool {
        switch reason {
        case .duplicateKey: true
        default: false
        }
    }

    /// Foundation refuses numbers that no double can hold.
    private func holdsHugeNumber(_ value: JSONValue) -> Bool {
        switch value {
        case .number(let number): number.double == nil
        case .array(let elements): elements.contains(where: holdsHugeNumber)
        case .object(let object): object.members.contains { holdsHugeNumber($0.value) }
        default: false
        }
    }

    /// Foundation reads fractions by way of its decimals, which may cost the last bits.
    private func nearlyEqual(_ ours: Double?, _ theirs: Double) -> Bool {
        ours.map { abs($0 - theirs) <= 8 * $0.ulp } == true
    }

    private func same(_ ours: JSONValue, _ theirs: Any) -> Bool {
        switch ours {
        case .null: return theirs is NSNull
        case .bool(let value): return theirs as? Bool == value
        case .string(let value): return (theirs as? String).map { $0.utf8.elementsEqual(value.utf8) } == true
        case .number(let number):
            guard let other = theirs as? NSNumber else { return false }
            return number.int64.map { $0 == other.int64Value } ?? nearlyEqual(number.double, other.doubleValue)
        case .array(let elements):
            guard let others = theirs as? [Any], others.count == elements.count else { return false }
            return zip(elements, others).allSatisfy(same)
        case .object(let object):
            guard let others = theirs as? [String: Any], others.count == object.members.count else { return false }
            return object.members.allSatisfy { member in others[member.key].map { same(member.value, $0) } == true }
        }
    }
}

/// Random documents.
extension SeededRandom {
    mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &self) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &self))
        case 2: return .number(JSONNumber(Int64.random(in: .min ... .max, using: &self)))
        case 3: return .number(JSONNumber(Int.random(in: -20...20, using: &self)))
        case 4: return JSONNumber(Double.random(in: -1e9...1e9, using: &self)).map(JSONValue.number) ?? .null
        case 5: return .string(string())
        case 6, 7:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...4, using: &self) { object[string()] = value(depth: depth - 1) }
            return .object(object)
        default: return .array((0..<Int.random(in: 0...4, using: &self)).map { _ in value(depth: depth - 1) })
        }
    }

    mutating func string() -> String {
        let alphabet: [Character] = [
            "a", "b", "Z", "0", " ", "\"", "\\", "/", "\n", "\u{1}", "é", "€", "😀", "\u{7F}", "\u{2028}",
        ]
        return String(
            (0..<Int.random(in: 0...12, using: &self)).compactMap { _ in alphabet.randomElement(using: &self) })
    }

    /// A document like those that the App Store signs, with a few members of chance.
    mutating func payload() -> [UInt8] {
        var object: JSONObject = [
            "transactionId": .string(String(UInt64.random(in: 0...(.max), using: &self))),
            "bundleId": "com.example.coins", "environment": "Sandbox", "price": 10990, "quantity": 1,
            "purchaseDate": .number(JSONNumber(Int64.random(in: 0...2_000_000_000_000, using: &self))),
            "isUpgraded": false, "signedDate": 1_698_148_900_000, "ratio": 0.25,
            "data": ["appAppleId": 1234, "names": ["a", "b\u{e9}", nil], "empty": [:]],
        ]
        for _ in 0..<Int.random(in: 0...3, using: &self) { object[string()] = value(depth: 2) }
        return JSONValue.object(object).serialized()
    }

    /// Replaces, inserts, removes, repeats or cuts a few bytes.
    mutating func damage(_ text: inout [UInt8]) {
        let grammar = Array("{}[]\",:\\/0123456789.eE+-truefalsn \n\u{1}é".utf8) + [0x80, 0xC0, 0xED, 0xFF]
        let position = Int.random(in: 0...text.count, using: &self)
        let byte = grammar.randomElement(using: &self) ?? 0
        switch Int.random(in: 0..<5, using: &self) {
        case 0 where position < text.count: text[position] = byte
        case 1 where position < text.count: text.remove(at: position)
        case 2: text.removeLast(text.count - position)
        case 3:
            let end = Int.random(in: position...text.count, using: &self)
            text.insert(contentsOf: text[position..<end], at: position)
        default: text.insert(byte, at: position)
        }
    }
}
