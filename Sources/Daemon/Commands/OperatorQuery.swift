import Curl
import Foundation
import JSON

/// What an operator's command asks the running daemon for, and what of the answer people read.
package struct OperatorQuery: Sendable {
    /// The form of the output.
    package enum Format: String, Sendable, CaseIterable {
        /// A table, or lines of names and values, for people.
        case table
        /// The daemon's answer as JSON, pages put together, for programs.
        case json
    }

    /// A column of a table: its title, and the member of an entry that it shows; a dot leads into objects.
    package struct Column: Sendable {
        let title: String
        let member: String

        package init(_ title: String, _ member: String) {
            self.title = title
            self.member = member
        }
    }

    /// What is sent with a request: an object of texts, whole numbers and truths.
    package struct Body: Sendable {
        private var members = JSONObject()

        package init() {}

        /// Adds a member, unless there is nothing to be said.
        package mutating func set(_ name: String, _ text: String?) { members[name] = text.map(JSONValue.string) }

        /// Adds a member, unless there is nothing to be said.
        package mutating func set(_ name: String, _ truth: Bool?) { members[name] = truth.map(JSONValue.bool) }

        /// Adds a member, unless there is nothing to be said.
        package mutating func set(_ name: String, _ number: Int?) {
            members[name] = number.map { .number(JSONNumber(Int64($0))) }
        }

        fileprivate var value: JSONValue { .object(members) }
    }

    let method: CurlRequest.Method
    let target: String
    let body: JSONValue?
    /// The member of the answer that is a list, and what is shown of each entry; nil for an answer that is one thing.
    let list: (member: String, columns: [Column])?
    /// The most entries of a list that is read page by page; nil for an answer that has no pages.
    let limit: Int?

    /// A list, page by page.
    ///
    /// - Parameters:
    ///   - path: the path's segments, not encoded.
    ///   - filters: query parameters; those without a value are left out.
    ///   - member: the member of the answer with the entries.
    ///   - columns: what is shown of each.
    ///   - limit: the most entries; nil where the answer comes in one piece.
    /// - Returns: the query.
    package static func list(
        _ path: [String], _ filters: [(String, String?)] = [], of member: String, _ columns: [Column], limit: Int?
    ) -> OperatorQuery {
        OperatorQuery(
            method: .get, target: target(path, filters), body: nil, list: (member, columns), limit: limit)
    }

    /// One thing.
    package static func one(_ path: [String], _ filters: [(String, String?)] = []) -> OperatorQuery {
        OperatorQuery(method: .get, target: target(path, filters), body: nil, list: nil, limit: nil)
    }

    /// Something that is done; `verb`: behind the colon of the path.
    package static func act(
        _ path: [String], verb: String? = nil, _ filters: [(String, String?)] = [], body: Body? = nil
    ) -> OperatorQuery {
        OperatorQuery(
            method: .post, target: target(path, filters, verb: verb), body: body?.value,
            list: nil, limit: nil)
    }

    /// Something that is put somewhere, changed or removed.
    package static func change(_ method: Change, _ path: [String], body: Body? = nil) -> OperatorQuery {
        OperatorQuery(
            method: method.method, target: target(path, []), body: body?.value,
            list: nil, limit: nil)
    }

    /// How something is changed that has a path of its own.
    package enum Change: Sendable {
        case put, patch, delete

        fileprivate var method: CurlRequest.Method {
            switch self {
            case .put: .put
            case .patch: .patch
            case .delete: .delete
            }
        }
    }

    private static func target(
        _ path: [String], _ filters: [(String, String?)], verb: String? = nil
    ) -> String {
        let query = filters.compactMap { name, value in
            value.map { "\(name)=\(CallerKeysCommand.segment($0))" }
        }
        let segments = path.map { "/" + CallerKeysCommand.segment($0) }.joined()
        return segments + (verb.map { ":\($0)" } ?? "") + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }
}
