// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import com.rabbitmq.client.impl.DefaultExceptionHandler;
import io.smqtt.thread.AnyThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs the exceptions of the client's threads at the level debug: what they mean for rows is logged by the action. */
@AnyThread
final class DebugExceptions extends DefaultExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(DebugExceptions.class);

    @Override
    protected void log(String message, Throwable error) {
        LOG.debug(message, error);
    }
}
