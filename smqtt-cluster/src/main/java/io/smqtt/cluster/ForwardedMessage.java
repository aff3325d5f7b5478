// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.SharedFilter;
import java.util.List;

/**
 * A message for the subscribers of one other node.
 *
 * @param message the message
 * @param toAll whether it goes to all subscribers that are not in a shared group
 * @param groups the shared groups on that node that get it, one member each
 */
record ForwardedMessage(ApplicationMessage message, boolean toAll, List<SharedFilter> groups) {}
