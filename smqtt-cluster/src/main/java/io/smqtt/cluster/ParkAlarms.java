// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.function.Consumer;

/**
 * Publishes alarms about dropped messages on {@value #TOPIC}, as JSON. Like the other {@code $SYS} topics the last one is retained in memory,
 * on this node only.
 */
@AnyThread
final class ParkAlarms implements Consumer<ParkLog.Alarm> {

    /** The topic. */
    static final String TOPIC = "$SYS/broker/alarms/parked";

    private final Router router;
    private final Ticker ticker;

    /**
     * Creates it.
     *
     * @param router the broker's router
     * @param ticker the broker's clock
     */
    ParkAlarms(Router router, Ticker ticker) {
        this.router = router;
        this.ticker = ticker;
    }

    @Override
    public void accept(ParkLog.Alarm alarm) {
        RoutingLoop loop = router.loops().get(0);
        if (loop.executor().isShuttingDown()) {
            return;
        }
        loop.executor().execute(() -> publish(loop, alarm));
    }

    private void publish(RoutingLoop loop, ParkLog.Alarm alarm) {
        ApplicationMessage message = ApplicationMessage.builder(TOPIC)
                .payload(json(alarm))
                .retain(true)
                .build()
                .accepted(loop.nextMessageId(), ticker.nanoTime(), null);
        router.retained().store(message);
        router.route(loop, message, RouteTicket.NONE);
    }

    /** The payload of an alarm. */
    static String json(ParkLog.Alarm alarm) {
        String node = LogText.escape(alarm.nodeId()).replace("\\", "\\\\").replace("\"", "\\\"");
        return "{\"node\":\"" + node + "\",\"reason\":\"" + reason(alarm.reason()) + "\",\"messages\":"
                + alarm.messages() + ",\"parked\":" + alarm.left() + "}";
    }

    private static String reason(DropReason reason) {
        return switch (reason) {
            case PEER_GONE -> "forgotten";
            case FAILED -> "unreadable";
            default -> "limit";
        };
    }
}
