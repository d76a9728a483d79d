import Domain
import JSON

/// How the parts of an answer that could not be read are told.
enum GapBody {
    /// Writes the member `gaps`, unless there are none.
    static func write(_ gaps: [AccountGap], requestID: String, to writer: inout JSONWriter) {
        guard !gaps.isEmpty else { return }
        writer.memberArray("gaps") { writer in
            for gap in gaps {
                writer.object { writer in
                    writer.member("part", gap.part.rawValue)
                    writer.member("kind", gap.target.kind.rawValue)
                    writer.member("value", gap.target.value)
                    writer.memberOrNull("environment", gap.environment?.rawValue)
                    ProblemResponse.writeMember(gap.error, requestID: requestID, to: &writer)
                }
            }
        }
    }
}
