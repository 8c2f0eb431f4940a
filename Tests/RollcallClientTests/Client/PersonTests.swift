// What the client's own user decides that others see, with a fake worker.

import Foundation
import Testing

@testable import RollcallClient
@testable import RollcallTesting

@Suite @MainActor struct OwnPersonTests {
    private let worker = FakeWorker()

    private func connected(_ user: UserID) -> RollcallClient {
        let client = worker.client(user: user)
        client.connect()
        return client
    }

    private var sent: [PersonPatch] {
        worker.world.heard.compactMap { if case .person(let patch) = $0 { patch } else { nil } }
    }

    @Test("is shown at once where it is set, on the user's other devices, and to others")
    func model() async throws {
        let (phone, laptop) = (PersonModel(of: connected("bob")), PersonModel(of: connected("bob")))
        let header = PresenceModel(of: "bob", from: connected("alice"))
        await worker.passes(.zero)
        #expect(phone.person == Person() && header.text == "Active now")
        phone.set(.availability(.dnd), .lasting(.seconds(60)))
        #expect(phone.person.availability == .dnd, "before a worker has it")
        await worker.passes(.zero)
        #expect(laptop.person.availability == .dnd && laptop.person.until != nil && laptop.person == phone.person)
        #expect(laptop.text.hasPrefix("Do not disturb until ") && header.text == laptop.text)
        await worker.passes(.seconds(60))
        #expect(phone.person.availability == nil && phone.text == "" && laptop.person == phone.person, "it has ended")
        laptop.isInvisible = true
        await worker.passes(.zero)
        #expect(phone.isInvisible && header.presence?.version == 0 && phone.text == "")
        phone.lastSeen = .nobody
        phone.isInvisible = false
        await worker.passes(.zero)
        #expect(laptop.lastSeen == .nobody && laptop.presence == nil && header.text == "Active now")
        let later = PersonModel(of: connected("bob"))
        await worker.passes(.zero)
        #expect(later.lastSeen == .nobody)
    }

    @Test("what is set without a connection is sent with the next one, once, the last of each kind")
    func offline() async {
        let client = connected("bob")
        await worker.passes(.zero)
        await worker.goesAway()
        client.setPerson(.availability(.busy), .lasting(.seconds(60)))
        client.setPerson(.availability(.dnd), .until(nil), .presence(.shared))
        await worker.passes(.seconds(1))
        await worker.comesBack()
        await worker.passes(.seconds(10))
        #expect(sent == [PersonPatch([.availability(.dnd), .until(nil), .presence(.shared)] as [Person.Setting])])
        await worker.drops()
        await worker.passes(.seconds(10))
        #expect(sent.count == 1, "it was confirmed")
    }

    @Test(
        "while Redis is away it is sent again, with what is set meanwhile; a refusal for good is a problem, and not shown"
    )
    func refused() async throws {
        let client = connected("bob")
        let me = PersonModel(of: client)
        var problems = client.problems.makeAsyncIterator()
        await worker.becomesUnavailable()
        me.presence = .nobody
        await worker.passes(.seconds(5))
        me.lastSeen = .nobody
        #expect(me.presence == .nobody && sent.count > 2)
        await worker.becomesAvailable()
        await worker.passes(.seconds(20))
        #expect(sent.last == PersonPatch([.presence(.nobody), .lastSeen(.nobody)] as [Person.Setting]))
        let count = sent.count
        await worker.passes(.seconds(60))
        #expect(sent.count == count && me.presence == .nobody)
        worker.world.script = { [world = worker.world] request, session in
            guard case .person = request.message else { return world.answer(request, from: session) }
            session.tell(.error(MessageError(code: .badRequest, id: request.id, message: "not here")))
        }
        me.set(.text("lunch"))
        #expect(me.person.text == "lunch")
        await worker.passes(.seconds(10))
        #expect(me.person.text == nil && me.presence == .nobody && sent.count == count + 1)
        #expect(await problems.next()?.code == .badRequest)
    }
}
