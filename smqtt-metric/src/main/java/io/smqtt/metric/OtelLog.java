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
 * Passes on what OpenTelemetry logs by the JDK's logging to the log of the broker: warnings only, one per minute and class.
 * Messages of the exporter are left out, because {@link ToldSpanExporter} logs its failures. It holds for the whole process,
 * so it is only for one that has no other use of OpenTelemetry.
 */
@AnyThread
final class OtelLog extends Handler {

    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(OtelLog.class);
    private static final String EXPORTER = "io.opentelemetry.exporter.";

    private static final SimpleFormatter FORMAT = new SimpleFormatter();

    /** Kept here, or what is set would be collected with it. */
    private static final Logger SOURCE = Logger.getLogger("io.opentelemetry");

    private final LogLimiter lines = new LogLimiter(LOG, org.slf4j.event.Level.WARN, 1);

    private OtelLog() {}

    /** From now on, once for all brokers. */
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

    /** With its parameters filled in. */
    static String text(LogRecord said) {
        return FORMAT.formatMessage(said);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
