// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.SinkException;
import io.smqtt.thread.AnyThread;
import java.util.List;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;

/**
 * Sorts the errors of Kafka. Those of a record are permanent: it will not be taken later either. All others may pass, also a wrong password or a
 * missing right, which an administrator mends.
 */
@AnyThread
final class KafkaFailure {

    private static final List<Class<? extends Throwable>> OF_RECORD = List.of(
            RecordTooLargeException.class,
            RecordBatchTooLargeException.class,
            InvalidTopicException.class,
            InvalidRecordException.class,
            InvalidTimestampException.class,
            SerializationException.class,
            UnsupportedForMessageFormatException.class);

    private KafkaFailure() {}

    /**
     * Words an error for operators.
     *
     * @param error an error of the producer
     * @param topicOfRow whether rows choose the topic, so that a missing right is an error of the row
     */
    static SinkException of(Throwable error, boolean topicOfRow) {
        String message = error.getMessage();
        String reason = message == null ? error.getClass().getSimpleName() : message;
        return new SinkException(reason, !isOfRecord(error) && !(topicOfRow && isOfTopic(error)));
    }

    private static boolean isOfTopic(Throwable error) {
        return error instanceof TopicAuthorizationException;
    }

    private static boolean isOfRecord(Throwable error) {
        return OF_RECORD.stream().anyMatch(type -> type.isInstance(error));
    }

    /** Whether another producer is needed after an error: this one may never work again, or has read files that have changed. */
    static boolean endsProducer(Throwable error) {
        return !(error instanceof RetriableException) && !isOfRecord(error) && !isOfTopic(error) && !isOfRequest(error);
    }

    /** Whether the record was only in one request with a record that the cluster refused; Kafka has no type for it. */
    private static boolean isOfRequest(Throwable error) {
        return error.getClass() == KafkaException.class && error.getCause() == null;
    }
}
