// SPDX-License-Identifier: Apache-2.0
/** What operators set for topics while the broker runs: counted topics, rewrites, automatic subscriptions, delayed publish. */
@NullMarked
package io.smqtt.admin.topic;

import org.jspecify.annotations.NullMarked;
