// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.ReasonCode;
import io.smqtt.session.Deadline;
import io.smqtt.session.DeadlineWheel;
import io.smqtt.thread.OnEventLoop;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The deadlines of one connection: keep alive, slow consumer, end of the authentication, graceful close. */
@OnEventLoop
final class ConnectionDeadlines {

    private static final Duration FOR_EVER = Duration.ofDays(36_500);

    private final Connection connection;
    private final Disconnector disconnector;
    private final DeadlineWheel wheel;
    private @Nullable KeepAlive keepAlive;
    private @Nullable SlowReader slowReader;
    private @Nullable Validity validity;
    private @Nullable Linger linger;

    ConnectionDeadlines(Connection connection, Disconnector disconnector) {
        this.connection = connection;
        this.disconnector = disconnector;
        this.wheel = connection.loop().wheel();
    }

    /** Ends the connection when no complete packet arrives for 1.5 times the keep alive [MQTT-3.1.2-22]. */
    private final class KeepAlive extends Deadline {

        private final int seconds;
        private final long limitTicks;

        KeepAlive(int seconds) {
            this.seconds = seconds;
            this.limitTicks = seconds * 1500L / DeadlineWheel.TICK_MILLIS;
        }

        void arm() {
            wheel.armAt(this, connection.touchedTick() + limitTicks + 1); // the packet may have come late in its tick
        }

        @Override
        protected void expired() {
            if (connection.isHeldBack()) { // its packets wait because the broker does not read them
                connection.touch();
            }
            if (wheel.tick() - connection.touchedTick() > limitTicks) { // after a pause of the loop read once more
                connection.context().executor().schedule(this::check, DeadlineWheel.TICK_MILLIS, TimeUnit.MILLISECONDS);
            } else {
                arm();
            }
        }

        private void check() {
            if (connection.isClosing()) {
                return;
            }
            if (wheel.tick() - connection.touchedTick() > limitTicks) {
                disconnector.disconnect(connection, ReasonCode.KEEP_ALIVE_TIMEOUT, null);
            } else {
                arm();
            }
        }
    }

    /** Ends the connection of a client that does not read its output. */
    private final class SlowReader extends Deadline {

        @Override
        protected void expired() {
            disconnector.tooSlow(connection);
        }
    }

    /** Ends the connection of a client whose authentication is no longer valid. */
    private final class Validity extends Deadline {

        @Override
        protected void expired() {
            disconnector.disconnect(connection, ReasonCode.MAXIMUM_CONNECT_TIME, "the authentication has expired");
        }
    }

    /** Closes the socket of a client that got its last packet and did not close it. */
    private final class Linger extends Deadline {

        @Override
        protected void expired() {
            connection.context().close();
        }
    }

    int keepAliveSeconds() {
        return keepAlive == null ? 0 : keepAlive.seconds;
    }

    void keepAlive(int seconds) {
        if (seconds > 0) {
            connection.touch();
            keepAlive = new KeepAlive(seconds);
            keepAlive.arm();
        }
    }

    /** Limits the connection to the time for which its authentication is valid; null for no limit. */
    void validUntil(@Nullable Instant end) {
        if (validity != null) {
            validity.cancel();
        }
        if (end != null) {
            validity = new Validity();
            Instant now = Instant.now();
            Instant limit = now.plus(FOR_EVER);
            wheel.arm(
                    validity,
                    end.isBefore(now)
                            ? 0
                            : Duration.between(now, end.isBefore(limit) ? end : limit)
                                    .toMillis());
        }
    }

    void writable(boolean writable) {
        if (writable && slowReader != null) {
            slowReader.cancel();
        } else if (!writable && !connection.isClosing()) {
            if (slowReader == null) {
                slowReader = new SlowReader();
            }
            wheel.arm(slowReader, disconnector.slowConsumerMillis());
        }
    }

    void linger(long millis) {
        cancel();
        linger = new Linger();
        wheel.arm(linger, millis);
    }

    void cancel() {
        if (keepAlive != null) {
            keepAlive.cancel();
        }
        if (slowReader != null) {
            slowReader.cancel();
        }
        if (validity != null) {
            validity.cancel();
        }
        if (linger != null) {
            linger.cancel();
        }
    }
}
