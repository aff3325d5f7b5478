// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.routing.RouteTicket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class InboundFlowTest {

    private final InboundFlow flow = new InboundFlow(null);

    @Test
    void remembersUntilReleased() { // [MQTT-4.3.3-10]
        assertThat(flow.isAwaitingRelease(1)).isFalse();
        flow.received(1);
        flow.received(65_535);
        flow.received(1);
        assertThat(flow.awaitingRelease()).isEqualTo(2);
        assertThat(flow.isAwaitingRelease(1)).isTrue();
        assertThat(flow.isAwaitingRelease(2)).isFalse();

        assertThat(flow.released(1)).isTrue();
        assertThat(flow.released(1)).isFalse();
        assertThat(flow.released(65_535)).isTrue();
        assertThat(flow.released(65_535)).isFalse();
        assertThat(flow.awaitingRelease()).isZero();
    }

    @Test
    void forgetsAllIdentifiersAtOnce() {
        RouteTicket first = ticket();
        flow.releaseAll();
        flow.received(7);
        flow.receivedUnsettled(65_535, first);
        flow.releaseAll();
        assertThat(flow.awaitingRelease()).isZero();
        assertThat(flow.isAwaitingRelease(7)).isFalse();
        assertThat(flow.awaiting(65_535)).isNull();

        flow.received(65_535);
        flow.settled(65_535, first, false); // of the former session
        assertThat(flow.isAwaitingRelease(65_535)).isTrue();
    }

    private final List<Boolean> outcomes = new ArrayList<>();

    private RouteTicket ticket() {
        return new RouteTicket() {
            @Override
            public void hold() {
                throw new AssertionError("nobody holds it here");
            }

            @Override
            public void release(boolean success) {
                outcomes.add(success);
            }
        };
    }

    @Test
    void theLastConnectionIsToldWhenAMessageIsSettled() {
        RouteTicket origin = ticket();
        RouteTicket last = ticket();
        flow.receivedUnsettled(1, origin);
        assertThat(flow.awaiting(1)).isSameAs(origin);
        flow.follow(1, ticket());
        flow.follow(1, last);
        assertThat(flow.awaiting(1)).isSameAs(last);
        flow.settled(1, origin, true);
        flow.settled(1, origin, false); // too late to mean anything
        assertThat(outcomes).containsExactly(true);
        assertThat(flow.awaiting(1)).isNull();
        assertThat(flow.isAwaitingRelease(1)).isTrue();
    }

    @Test
    void anIdentifierThatIsReusedEarlyDoesNotTakeTheOutcomeOfItsFirstMessage() {
        RouteTicket first = ticket();
        RouteTicket second = ticket();
        flow.receivedUnsettled(1, first);
        flow.released(1); // by a client that did not await the PUBREC
        flow.receivedUnsettled(1, second);
        flow.settled(1, first, false);
        assertThat(flow.isAwaitingRelease(1)).isTrue();
        assertThat(flow.awaiting(1)).isSameAs(second);
        flow.settled(1, second, false);
        assertThat(flow.isAwaitingRelease(1)).isFalse();
        assertThat(outcomes).isEmpty();
    }
}
