import AppStoreAPI
import JSON

/// Reads the members of a consumption report and knows which of Apple's errors goes with each.
struct ConsumptionBody {
    private let members: JSONMembers

    /// - Throws: 400 without a number for anything but one JSON object.
    init(_ body: [UInt8]) throws(Refusal) {
        do throws(JSONError) {
            members = try JSONScanner.members(of: body)
        } catch {
            throw .malformed(status: 400, "the body is not one JSON object: \(error)")
        }
    }

    /// The value of a member; an explicit null counts as absent.
    func value(_ name: String) -> JSONSlice? {
        guard let value = members[name], !value.isNull else { return nil }
        return value
    }

    /// Checks that a required member is a boolean.
    @discardableResult
    func bool(_ name: String, _ error: APIErrorCode) throws(Refusal) -> Bool {
        guard let value = value(name)?.bool else { throw .error(error) }
        return value
    }

    /// Checks that a required member is one of the strings.
    @discardableResult
    func string(_ name: String, in allowed: [String], _ error: APIErrorCode) throws(Refusal) -> String {
        guard let value = value(name)?.string, allowed.contains(value) else { throw .error(error) }
        return value
    }

    /// Checks that a required member is an integer in a range.
    @discardableResult
    func integer(_ name: String, in range: ClosedRange<Int64>, _ error: APIErrorCode) throws(Refusal) -> Int64 {
        guard let value = value(name)?.int64, range.contains(value) else { throw .error(error) }
        return value
    }
}
