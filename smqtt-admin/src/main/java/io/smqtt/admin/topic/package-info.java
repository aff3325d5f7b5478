// SPDX-License-Identifier: Apache-2.0
/** Live objects for topics: topic metrics, rewrites, automatic subscriptions, rules for retained messages, checks of payloads, delayed publish. */
@NullMarked
package io.smqtt.admin.topic;

import org.jspecify.annotations.NullMarked;
