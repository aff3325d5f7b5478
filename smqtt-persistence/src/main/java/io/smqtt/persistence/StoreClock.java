// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.spi.Ticker;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The clock of the store. While the broker runs it uses the broker's monotonic clock. Between two runs it uses the uptime of the machine,
 * which cannot be set. If the machine was restarted it uses the wall clock, or no time at all if that went back.
 */
final class StoreClock {

    private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private final Ticker ticker;
    private final Machine machine;
    private final long startMillis;
    private final long startNanos;

    private StoreClock(Ticker ticker, Machine machine, long startMillis) {
        this.ticker = ticker;
        this.machine = machine;
        this.startMillis = startMillis;
        this.startNanos = ticker.nanoTime();
    }

    /**
     * Continues the clock of an earlier run.
     *
     * @param last the last stored value of that clock, or null for a new clock
     */
    static StoreClock after(@Nullable Reading last, Ticker ticker, Machine machine) {
        return new StoreClock(ticker, machine, last == null ? 0 : last.storeMillis + elapsed(last, machine));
    }

    private static long elapsed(Reading last, Machine machine) {
        String boot = machine.bootId();
        if (!boot.isEmpty() && boot.equals(last.bootId)) {
            return Math.max(0, machine.uptimeMillis() - last.uptimeMillis);
        }
        return Math.max(0, machine.wallMillis() - last.wallMillis);
    }

    long millis() {
        return millisAt(ticker.nanoTime());
    }

    /** The store's time at a moment of the broker's clock. */
    long millisAt(long nanos) {
        return startMillis + Math.floorDiv(nanos - startNanos, NANOS_PER_MILLI);
    }

    /** The broker's time at a moment of the store's clock. */
    long nanosAt(long millis) {
        return startNanos + (millis - startMillis) * NANOS_PER_MILLI;
    }

    /** The values of all clocks, to be stored. */
    Reading read() {
        return new Reading(millis(), machine.wallMillis(), machine.uptimeMillis(), machine.bootId());
    }

    /**
     * All clocks at one moment.
     *
     * @param storeMillis the store's clock
     * @param wallMillis the wall clock
     * @param uptimeMillis since the machine was started
     * @param bootId changes whenever the machine is started; empty if unknown
     */
    record Reading(long storeMillis, long wallMillis, long uptimeMillis, String bootId) {

        private static final int VERSION = 1;

        byte[] encode() {
            return new ByteWriter(64)
                    .u8(VERSION)
                    .number(storeMillis)
                    .signed(wallMillis)
                    .number(uptimeMillis)
                    .text(bootId)
                    .toByteArray();
        }

        static Reading decode(byte[] row) {
            ByteReader reader = new ByteReader(row);
            reader.format(VERSION);
            Reading reading = new Reading(reader.number(), reader.signed(), reader.number(), reader.text());
            reader.requireEnd();
            return reading;
        }
    }

    /** The clocks of the machine. */
    interface Machine {

        long wallMillis();

        /** Time since the machine was started, including suspension; 0 if unknown. */
        long uptimeMillis();

        /** Changes whenever the machine is started; empty if unknown. */
        String bootId();
    }
}
