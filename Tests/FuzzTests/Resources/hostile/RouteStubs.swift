// Sources/HTTPAPI/RouteTable.swift names these types, whose own files need SwiftNIO. The program compiles the file with these
// stand-ins as the module HTTPRoutes; it calls `RouteTable` alone.

import Domain

struct Answer: Sendable {}

struct RequestInput: Sendable {
    func parameter(_ name: String) throws(ServiceError) -> String { name }
}
