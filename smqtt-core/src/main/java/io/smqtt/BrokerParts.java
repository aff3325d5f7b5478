// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.access.AccessControl;
import io.smqtt.config.BrokerConfig;
import io.smqtt.connection.TopicRules;
import io.smqtt.message.PayloadMemory;
import io.smqtt.overload.OverloadWatch;
import io.smqtt.routing.Router;
import io.smqtt.session.QueueBudget;
import io.smqtt.session.RetainedKeeper;
import io.smqtt.session.SessionRegistry;
import io.smqtt.session.Stores;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.Ticker;
import io.smqtt.spi.TrafficCounts;
import io.smqtt.trace.Traces;
import io.smqtt.transport.EventLoops;
import io.smqtt.transport.Listeners;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parts of one broker, which {@link BrokerAssembly} creates.
 *
 * @param config the configuration
 * @param ticker the clock of all expiries and deadlines
 * @param observer receives the events of all parts
 * @param events passes events about clients to the application
 * @param access authentication and authorization
 * @param eventLoops the event loops of the connections
 * @param router routes messages
 * @param sessions the sessions by client identifier
 * @param stores the store by event loop; null without a store
 * @param retained stores retained messages
 * @param budget the budget of all queues
 * @param payloads the network buffers in which payloads are used in place
 * @param directory knows which node owns a client identifier
 * @param topicRules the rules for topics of clients
 * @param listeners the bound ports
 * @param traces what clients and messages are traced
 * @param overload watches for overload
 * @param features parts of the core that the configuration asks for
 * @param traffic bytes and packets of clients, by event loop
 */
record BrokerParts(
        BrokerConfig config,
        Ticker ticker,
        BrokerObserver observer,
        EventStream events,
        AccessControl access,
        EventLoops eventLoops,
        Router router,
        SessionRegistry sessions,
        @Nullable Stores stores,
        RetainedKeeper retained,
        QueueBudget budget,
        PayloadMemory payloads,
        ClientDirectory directory,
        TopicRules topicRules,
        Listeners listeners,
        Traces traces,
        OverloadWatch overload,
        List<CoreFeature> features,
        List<TrafficCounts> traffic) {}
