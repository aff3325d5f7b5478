// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ShutdownSignalException;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.SinkException;
import java.io.EOFException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConfirmedBatchTest {

    private static final SinkException LATER = new SinkException("later", true);

    private final List<ConfirmedBatch.Outcome> outcomes = new ArrayList<>();

    private ConfirmedBatch batch(int size) {
        return new ConfirmedBatch(size, true, outcomes::add);
    }

    /** A batch whose rows have the tags 11, 12 … and the routing keys a, b, a, b …. */
    private ConfirmedBatch sent(int size) {
        ConfirmedBatch batch = batch(size);
        for (int i = 0; i < size; i++) {
            batch.sends(11 + i, i, message(i));
        }
        return batch;
    }

    private static RowMessage message(int index) {
        return new RowMessage(
                new RowMessage.Place("", index % 2 == 0 ? "a" : "b"),
                new AMQP.BasicProperties(),
                String.valueOf(index).getBytes(UTF_8));
    }

    private static Return returned(int index) {
        RowMessage message = message(index);
        return new Return(
                AMQP.NO_ROUTE, "NO_ROUTE", "", message.place().routingKey(), message.properties(), message.body());
    }

    private BatchResult result() {
        assertThat(outcomes).hasSize(1);
        assertThat(outcomes.get(0).refusal()).isNull();
        return outcomes.get(0).result();
    }

    private static Return changed(AMQP.BasicProperties properties, int index) {
        RowMessage message = message(index);
        return new Return(AMQP.NO_ROUTE, "NO_ROUTE", "", message.place().routingKey(), properties, message.body());
    }

    @Test
    void headersThatTheServerAddsDoNotHideAReturnedMessage() {
        ConfirmedBatch batch = sent(2);
        batch.handle(changed(
                new AMQP.BasicProperties.Builder()
                        .headers(Map.of("x-routed-by", "rabbit"))
                        .build(),
                1));
        batch.handleAck(12, true);
        assertThat(result().refusals()).containsExactly(new Refusal(1, "it reaches no queue: NO_ROUTE", false));
    }

    @Test
    void aReturnedMessageThatIsNotRecognizedIsNoSuccess() {
        AMQP.BasicProperties other =
                new AMQP.BasicProperties.Builder().messageId("?").build();
        ConfirmedBatch batch = sent(2);
        batch.handle(changed(other, 1));
        batch.handleAck(12, true);
        assertThat(outcomes.get(0).refusal()).hasMessage("a message reaches no queue: NO_ROUTE");

        outcomes.clear();
        ConfirmedBatch alone = sent(1);
        alone.handle(changed(other, 0));
        alone.handleAck(11, false);
        assertThat(result().refusals()).containsExactly(new Refusal(0, "a message reaches no queue: NO_ROUTE", false));
    }

    @Test
    void confirmationMayBeForSeveralMessages() {
        ConfirmedBatch batch = sent(5);
        batch.handleAck(12, false);
        batch.handleAck(14, true);
        assertThat(outcomes).isEmpty();
        batch.handleAck(15, false);

        assertThat(result()).isEqualTo(BatchResult.DONE);
        batch.handleAck(15, true);
        assertThat(outcomes).hasSize(1);
    }

    @Test
    void rowsBehindOneThatIsNotTakenAreSentAgainIfTheyGoToTheSamePlace() {
        ConfirmedBatch batch = sent(5);
        batch.handleAck(15, false);
        batch.handleNack(11, false);
        assertThat(batch.isBroken()).isTrue();
        batch.handleAck(14, true);

        assertThat(result().refusals())
                .extracting(Refusal::index, Refusal::recoverable)
                .containsExactly(tuple(0, true), tuple(2, true), tuple(4, true));
        assertThat(result().refusals().get(0).reason()).isEqualTo(ConfirmedBatch.FULL);
    }

    @Test
    void returnedMessageIsRefusedWhenItIsConfirmed() {
        ConfirmedBatch batch = sent(3);
        batch.handle(returned(1));
        assertThat(batch.isBroken()).isFalse();
        batch.handleAck(13, true);

        assertThat(result().refusals()).containsExactly(new Refusal(1, "it reaches no queue: NO_ROUTE", false));
    }

    @Test
    void messagesThatAreAlikeAreReturnedOneByOne() {
        ConfirmedBatch batch = batch(3);
        for (int i = 0; i < 3; i++) {
            batch.sends(1 + i, i, message(0));
        }
        batch.handle(returned(0));
        batch.handle(returned(0));
        batch.handleAck(3, true);

        assertThat(result().refusals()).extracting(Refusal::index).containsExactly(0, 1);
    }

    @Test
    void rowsThatWereNotPublishedAreSentAgain() {
        ConfirmedBatch batch = batch(4);
        batch.sends(1, 0, message(0));
        batch.refuse(1, new SinkException("too large", false));
        batch.sends(2, 2, message(2));
        batch.abandon(2, LATER); // publishing it has failed
        assertThat(outcomes).isEmpty();
        batch.handleAck(1, false);

        assertThat(result().refusals())
                .containsExactly(
                        new Refusal(1, "too large", false),
                        new Refusal(2, "later", true),
                        new Refusal(3, "later", true));
    }

    @Test
    void endOfTheConnectionLeavesOpenRowsInDoubt() {
        ConfirmedBatch batch = sent(3);
        batch.handleAck(11, false);
        ShutdownSignalException signal = new ShutdownSignalException(true, false, null, null);
        signal.initCause(new EOFException());
        batch.shutdownCompleted(signal);

        assertThat(batch.isBroken()).isTrue();
        assertThat(result().refusals())
                .containsExactly(
                        new Refusal(1, "no answer: the server has ended the connection", true),
                        new Refusal(2, "no answer: the server has ended the connection", true));
    }

    private static ShutdownSignalException closed(int code, String text) {
        return new ShutdownSignalException(
                false,
                false,
                new AMQP.Channel.Close.Builder().replyCode(code).replyText(text).build(),
                null);
    }

    @Test
    void rowThatEndsTheChannelIsKnownOnlyIfItIsAlone() {
        ConfirmedBatch alone = sent(2);
        alone.handleAck(11, false);
        alone.shutdownCompleted(closed(AMQP.NOT_FOUND, "NOT_FOUND - no exchange 'secret' in vhost '/'"));
        assertThat(result().refusals()).containsExactly(new Refusal(1, "NOT_FOUND - no exchange …", false));

        outcomes.clear();
        sent(2).shutdownCompleted(closed(AMQP.PRECONDITION_FAILED, "PRECONDITION_FAILED - message size"));
        assertThat(outcomes)
                .singleElement()
                .satisfies(outcome -> assertThat(outcome.refusal()).hasMessage("PRECONDITION_FAILED - message size"));
    }

    @Test
    void exchangeThatAllRowsHaveMayBeMended() {
        ConfirmedBatch batch = new ConfirmedBatch(1, false, outcomes::add);
        batch.sends(1, 0, message(0));
        batch.shutdownCompleted(closed(AMQP.NOT_FOUND, "NOT_FOUND - no exchange 'e' in vhost '/'"));

        assertThat(result().refusals())
                .containsExactly(new Refusal(0, "NOT_FOUND - no exchange 'e' in vhost '/'", true));
    }
}
