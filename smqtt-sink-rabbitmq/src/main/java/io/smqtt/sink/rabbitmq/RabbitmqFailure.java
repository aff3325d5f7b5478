// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AuthenticationFailureException;
import com.rabbitmq.client.ShutdownSignalException;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.LogText;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.thread.AnyThread;
import java.io.EOFException;

/**
 * Sorts the errors of RabbitMQ. A message that the server finds too large will not be taken later either, nor one for an exchange that its row has
 * chosen and that is missing or not permitted. All others may pass, also a wrong password or an exchange that an administrator has to declare.
 */
@AnyThread
final class RabbitmqFailure {

    private RabbitmqFailure() {}

    /**
     * Words an error for operators.
     *
     * @param error an error of the client
     * @param exchangeOfRow whether rows choose the exchange
     */
    static SinkException of(Throwable error, boolean exchangeOfRow) {
        if (error instanceof SinkException known) {
            return known;
        }
        Throwable cause = error;
        while (cause.getCause() != null && !isOfServer(cause)) {
            cause = cause.getCause();
        }
        if (cause instanceof ShutdownSignalException signal) {
            if (signal.getReason() instanceof AMQP.Channel.Close close) {
                return ofChannel(close, exchangeOfRow);
            }
            if (signal.getReason() instanceof AMQP.Connection.Close close && !signal.isInitiatedByApplication()) {
                return new SinkException(LogText.escape(close.getReplyText()), true);
            }
        }
        return new SinkException(isAnswer(cause) ? text(cause) : "no answer: " + text(cause), true);
    }

    private static String text(Throwable cause) {
        if (cause instanceof EOFException) {
            return "the server has ended the connection";
        }
        return LogText.escape(cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage());
    }

    private static boolean isOfServer(Throwable error) {
        return (error instanceof ShutdownSignalException signal && signal.getReason() != null) || isAnswer(error);
    }

    private static boolean isAnswer(Throwable error) {
        return error instanceof AuthenticationFailureException || error instanceof ConfigurationException;
    }

    private static SinkException ofChannel(AMQP.Channel.Close close, boolean exchangeOfRow) {
        int code = close.getReplyCode();
        boolean ofRow = code == AMQP.PRECONDITION_FAILED
                || (exchangeOfRow && (code == AMQP.NOT_FOUND || code == AMQP.ACCESS_REFUSED));
        String text = close.getReplyText();
        int quote = text.indexOf('\'');
        return new SinkException(
                LogText.escape(ofRow && quote >= 0 ? text.substring(0, quote).stripTrailing() + " …" : text), !ofRow);
    }
}
