// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.log.LogLimiter;
import io.smqtt.thread.AnyThread;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.slf4j.LoggerFactory;

/**
 * Forwards OpenTelemetry's messages in the JDK's log to the log of the broker: warnings only, one per minute and class.
 * Messages of the exporter are left out, because {@link LoggingSpanExporter} logs its failures. It applies to the whole process, so it is
 * only for a process without another use of OpenTelemetry.
 */
@AnyThread
final class OtelLog extends Handler {

    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(OtelLog.class);
    private static final String EXPORTER = "io.opentelemetry.exporter.";

    private static final SimpleFormatter FORMAT = new SimpleFormatter();

    /** A strong reference, because the JDK holds loggers weakly and would lose the settings. */
    private static final Logger SOURCE = Logger.getLogger("io.opentelemetry");

    private final LogLimiter lines = new LogLimiter(LOG, org.slf4j.event.Level.WARN, 1);

    private OtelLog() {}

    /** Installs the handler, once for all brokers. */
    static synchronized void install() {
        for (Handler handler : SOURCE.getHandlers()) {
            if (handler instanceof OtelLog) {
                return;
            }
        }
        SOURCE.addHandler(new OtelLog());
        SOURCE.setUseParentHandlers(false);
    }

    @Override
    public void publish(LogRecord said) {
        String source = String.valueOf(said.getLoggerName());
        if (said.getLevel().intValue() < Level.WARNING.intValue() || source.startsWith(EXPORTER)) {
            return;
        }
        if (lines.allows(source)) {
            LOG.warn(text(said), said.getThrown());
        }
    }

    /** The text of a record with its parameters. */
    static String text(LogRecord said) {
        return FORMAT.formatMessage(said);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
