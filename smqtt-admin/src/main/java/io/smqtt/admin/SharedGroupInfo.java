// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import org.jspecify.annotations.Nullable;

/**
 * A shared group with members or waiting messages on this node.
 *
 * @param shareName the share name
 * @param filter the topic filter
 * @param members number of its members on this node
 * @param online how many of them are connected
 * @param inFlight number of messages that those have not acknowledged, also of their other subscriptions
 * @param waiting number of messages that wait on this node until a member takes them
 * @param bytes footprint of the waiting messages
 * @param waitingSinceMillis since when messages wait without a break, in milliseconds since 1970; null if none waits
 */
public record SharedGroupInfo(
        String shareName,
        String filter,
        int members,
        int online,
        int inFlight,
        int waiting,
        long bytes,
        @Nullable Long waitingSinceMillis) {}
