// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

/** The packet handling of a broker: one instance of each flow for all connections. */
public final class ConnectionFlows {

    private final ConnectFlow connect;
    private final PublishFlow publish;
    private final SubscribeFlow subscribe;
    private final Disconnector disconnector;

    /**
     * Combines the flows.
     *
     * @param connect CONNECT and AUTH
     * @param publish PUBLISH and its acknowledgements, both ways
     * @param subscribe SUBSCRIBE and UNSUBSCRIBE
     * @param disconnector ends connections
     */
    public ConnectionFlows(
            ConnectFlow connect, PublishFlow publish, SubscribeFlow subscribe, Disconnector disconnector) {
        this.connect = connect;
        this.publish = publish;
        this.subscribe = subscribe;
        this.disconnector = disconnector;
    }

    ConnectFlow connect() {
        return connect;
    }

    PublishFlow publish() {
        return publish;
    }

    SubscribeFlow subscribe() {
        return subscribe;
    }

    Disconnector disconnector() {
        return disconnector;
    }
}
