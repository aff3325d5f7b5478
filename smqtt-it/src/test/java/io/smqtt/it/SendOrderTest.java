// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The order of messages on the wire, over several connections. */
class SendOrderTest {

    private final SendOrder order = new SendOrder();

    private void send(int connection, int... numbers) {
        for (int number : numbers) {
            order.sent(connection, number);
        }
    }

    @Test
    void repetitionsOfWhatIsNotAcknowledgedKeepIt() {
        send(1, 0, 1, 2);
        order.acknowledged(0);
        send(2, 1, 2, 3);
        send(2, 1, 4);
        assertThat(order.isKept()).isTrue();
    }

    @Test
    void anAcknowledgedMessageMayComeAgainAtAnyTime() {
        send(1, 0, 1);
        order.acknowledged(0);
        send(2, 1, 0, 2);
        assertThat(order.isKept()).isTrue();
    }

    @Test
    void aMessageThatIsNeverSentDoesNotCount() {
        send(1, 0, 2);
        assertThat(order.isKept()).isTrue();
        send(1, 1);
        assertThat(order.isKept()).isFalse();
    }

    @Test
    void aNewMessageBeforeOneToBeRepeatedBreaksIt() {
        send(1, 0, 1);
        send(2, 2, 0, 1);
        assertThat(order.isKept()).isFalse();
    }

    /** The receiver has message 2 of the second connection, and message 1 of the third one. */
    @Test
    void aMessageThatIsLeftOutOverOneConnectionBreaksIt() {
        send(1, 0, 1);
        order.acknowledged(0);
        send(2, 2);
        order.acknowledged(2);
        send(3, 1);
        assertThat(order.isKept()).isFalse();
    }
}
