import Domain
import JSON

/// The objects of our API about a user's consent.
enum ConsentBody {
    /// What a user said.
    static func write(_ record: ConsentRecord, to writer: inout JSONWriter) {
        writer.member("app", record.app)
        writer.member("user", record.user.value)
        writer.member("consented", record.isConsented)
        writer.member("source", record.source)
        writer.member("at", Timestamp.text(record.at))
        writer.member("recordedAt", Timestamp.text(record.recordedAt))
        writer.member("recordedBy", record.recordedBy)
    }

    /// Writes the member `consent`: the record that decides.
    static func writeCurrent(_ history: [ConsentRecord], to writer: inout JSONWriter) {
        if let record = history.last {
            writer.memberObject("consent") { write(record, to: &$0) }
        } else {
            writer.memberNull("consent")
        }
    }
}
