// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.Channel;
import io.smqtt.connection.ClientLink;

/** Adds the MQTT handler to the pipeline of a new connection. */
@FunctionalInterface
public interface ConnectionInitializer {

    /**
     * Called once per connection, on its event loop, when the PROXY header, the TLS handshake and the WebSocket handshake
     * are over. Must add one inbound handler at the end of the pipeline, named {@link MqttPipeline#MQTT}. The channel is
     * already active, so the handler begins in {@code handlerAdded}, not in {@code channelActive}; it asks for every read
     * itself, because auto-read is off, and writes plain {@code ByteBuf}s. Bytes that arrived with the last handshake
     * message are handed to it without being asked for. An exception closes the connection.
     *
     * @param channel the channel, active
     * @param connection the connection
     */
    void initialize(Channel channel, ClientLink connection);
}
