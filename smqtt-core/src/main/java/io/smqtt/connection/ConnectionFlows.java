// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

/** Packet handling: one instance of each flow for all connections of a broker. */
public final class ConnectionFlows {

    private final ConnectFlow connect;
    private final PublishFlow publish;
    private final SubscribeFlow subscribe;
    private final Disconnector disconnector;

    /**
     * Brings the flows together.
     *
     * @param connect CONNECT and AUTH
     * @param publish PUBLISH and its acknowledgements, both ways
     * @param subscribe SUBSCRIBE and UNSUBSCRIBE
     * @param disconnector the one exit
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
