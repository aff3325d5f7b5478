// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.routing.SubscriptionObserver;
import io.smqtt.session.Session;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import org.jspecify.annotations.Nullable;

/** Reports the filters of this node's own subscribers to the cluster. */
record LocalRoutes(ClusterNode node, AdoptedRoutes adopted) implements SubscriptionObserver {

    @Override
    public void added(Subscription subscription) {
        Subscriber subscriber = subscription.subscriber();
        if (InboundMessage.isFor(subscriber)
                && !ClusterModule.isOfThisNode(subscription.filter().value())) {
            change(subscriber, subscription.clientFilter(), 1);
        }
    }

    @Override
    public void removed(Subscriber subscriber, TopicFilter filter, @Nullable String shareName) {
        if (InboundMessage.isFor(subscriber) && !ClusterModule.isOfThisNode(filter.value())) {
            String text = shareName == null ? filter.value() : new SharedFilter(shareName, filter).toString();
            change(subscriber, text, -1);
        }
    }

    private void change(Subscriber subscriber, String filter, int difference) {
        String home = subscriber instanceof Session session ? session.home() : null;
        if (home == null) {
            node.localChange(filter, difference, subscriber.isDurable());
        } else {
            adopted.change(home, filter, difference);
        }
    }
}
