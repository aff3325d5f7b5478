// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.bridge.RemoteSession.Plan;
import org.junit.jupiter.api.Test;

class RemoteSessionTest {

    private static final String ONE = "one:1883";
    private static final String TWO = "two:1883";

    private final RemoteSession out = new RemoteSession("cloud", false);
    private final RemoteSession in = new RemoteSession("cloud", true);

    private static void refuse(RemoteSession session, int connections) {
        for (int i = 0; i < connections; i++) {
            session.served(ONE, true);
        }
    }

    @Test
    void threeConnectionsInVainAreEnough() {
        refuse(out, 2);
        assertThat(out.plan(ONE)).isEqualTo(Plan.RESUME);
        refuse(out, 1);
        assertThat(out.plan(ONE)).isEqualTo(Plan.BEGIN_ANEW);
        assertThat(out.plan(TWO)).isEqualTo(Plan.RESUME);
        out.begunAnew(ONE);
        assertThat(out.plan(ONE)).isEqualTo(Plan.RESUME);
    }

    @Test
    void oneThatTookAMessageBeginsTheCountAnew() {
        refuse(out, 2);
        out.served(ONE, false);
        refuse(out, 2);
        assertThat(out.plan(ONE)).isEqualTo(Plan.RESUME);
    }

    @Test
    void anotherAddressBeginsTheCountAnew() {
        refuse(out, 2);
        out.served(TWO, true);
        refuse(out, 2);
        assertThat(out.plan(ONE)).isEqualTo(Plan.RESUME);
    }

    @Test
    void aSessionThatMessagesMayWaitInIsEmptiedFirst() {
        refuse(in, 3);
        assertThat(in.plan(ONE)).isEqualTo(Plan.DRAIN);
        in.drained(ONE, true);
        assertThat(in.plan(ONE)).isEqualTo(Plan.BEGIN_ANEW);
    }

    @Test
    void aSessionFromWhichMessagesStillComeIsKept() {
        refuse(in, 3);
        in.drained(ONE, false);
        assertThat(in.plan(ONE)).isEqualTo(Plan.RESUME);
        refuse(in, 3);
        assertThat(in.plan(ONE)).as("tried again").isEqualTo(Plan.DRAIN);
    }

    /** If a new session does not help, the session is not the cause. */
    @Test
    void itIsReplacedOnceUntilAMessageIsTaken() {
        assertThat(out.refusesAll(ONE)).isTrue();
        assertThat(out.plan(ONE)).isEqualTo(Plan.BEGIN_ANEW);
        out.begunAnew(ONE);
        assertThat(out.refusesAll(ONE)).isFalse();
        refuse(out, 5);
        assertThat(out.plan(ONE)).isEqualTo(Plan.RESUME);
        out.served(ONE, false);
        assertThat(out.refusesAll(ONE)).isTrue();
    }
}
