// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The order of messages on the wire, over several connections. */
class SendOrderTest {

    private final SendOrder order = new SendOrder();

    private void send(int connection, int... numbers) {
        for (int number : numbers) {
            order.sent(connection, number, id(number));
        }
    }

    private static int id(int number) {
        return number + 1;
    }

    private void acknowledge(int number) {
        order.acknowledged(number, id(number));
    }

    private void refuse(int connection, int number) {
        order.refused(connection, number, id(number));
    }

    @Test
    void repetitionsOfWhatIsNotAcknowledgedKeepIt() {
        send(1, 0, 1, 2);
        acknowledge(0);
        send(2, 1, 2, 3);
        send(3, 1, 2, 3, 4);
        assertThat(order.isKept()).isTrue();
    }

    /** What is not acknowledged comes again at the begin of a connection only. */
    @Test
    void aRepetitionOverTheSameConnectionBreaksIt() {
        send(1, 0, 1, 2);
        send(1, 1);
        assertThat(order.isKept()).isFalse();
        assertThat(order.isKeptForFirstCopies()).isTrue();
    }

    /** The acknowledgement has not arrived. */
    @Test
    void anAcknowledgedMessageMayComeAgainInItsPlace() {
        send(1, 0, 1);
        acknowledge(0);
        send(2, 0, 1, 2);
        assertThat(order.isKept()).isTrue();
    }

    /** Also of those that the receiver has. */
    @Test
    void repetitionsInAnotherOrderBreakIt() {
        send(1, 0, 1);
        acknowledge(0);
        send(2, 1, 0, 2);
        assertThat(order.isKept()).isFalse();
        assertThat(order.isKeptForFirstCopies()).isTrue();
    }

    /** At QoS 1 it is another message. */
    @Test
    void aNumberThatItsPublisherHasSentOnceMoreMayComeBehindLaterOnes() {
        send(1, 0, 1, 2);
        order.sent(1, 1, 7);
        send(1, 3);
        send(2, 0, 1, 2);
        order.sent(2, 1, 7);
        send(2, 3);
        assertThat(order.isKept()).isTrue();
        send(3, 0, 1);
        order.sent(3, 1, 7);
        send(3, 2);
        assertThat(order.isKept()).isFalse();
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
        assertThat(order.isKeptForFirstCopies()).isFalse();
    }

    /** The receiver has message 2 of the second connection, and message 1 of the third one. */
    @Test
    void aMessageThatIsLeftOutOverOneConnectionBreaksIt() {
        send(1, 0, 1);
        acknowledge(0);
        send(2, 2);
        acknowledge(2);
        send(3, 1);
        assertThat(order.isKept()).isFalse();
        assertThat(order.isKeptForFirstCopies()).isFalse();
    }

    @Test
    void refusedMessagesComeAgainBehindThoseInFlightAndBeforeNewOnes() {
        send(1, 0, 1, 2);
        refuse(1, 0);
        send(1, 3); // it was on its way
        refuse(1, 1);
        acknowledge(3);
        send(1, 0);
        refuse(1, 0);
        send(1, 0);
        acknowledge(0);
        send(1, 1);
        acknowledge(1);
        send(1, 4);
        assertThat(order.isKept()).isTrue();
    }

    @Test
    void aNewMessageBeforeARefusedOneIsTakenBreaksIt() {
        send(1, 0, 1);
        refuse(1, 0);
        send(1, 0, 2);
        assertThat(order.isKept()).isFalse();
    }

    /** Over the next connection all are sent again. */
    @Test
    void aRefusalIsOfOneConnection() {
        send(1, 0, 1);
        refuse(1, 0);
        send(1, 0);
        send(2, 0, 1, 2);
        assertThat(order.isKept()).isTrue();
        send(2, 0);
        assertThat(order.isKept()).isFalse();
    }
}
