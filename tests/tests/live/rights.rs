//! Users with every combination of rights: a plan says that something will be created exactly where it then is.

use crate::planning::{settings, tables};
use crate::{client, run};
use acemq_core::plan::{PlanSession, Reason, Verdict};
use acemq_core::rabbitmq::QueueDeclaration;
use acemq_live::{Ending, Width, drive};
use acemq_tests::on_every_broker;
use std::future::pending;

on_every_broker! {
    fn create_is_said_exactly_where_it_succeeds(node) {
        let vhost = node.fresh_vhost();
        run(async {
            for rights in 0..64_u32 {
                let right = |bit: u32, name: &str| if rights & (1 << bit) == 0 { String::new() } else { name.to_owned() };
                let all = |queue: u32, exchange: u32| {
                    let patterns = [right(queue, "plain|dead|there"), right(exchange, "dlx")];
                    let patterns: Vec<_> = patterns.into_iter().filter(|pattern| !pattern.is_empty()).collect();
                    if patterns.is_empty() { "^$".to_owned() } else { format!("^({})", patterns.join("|")) }
                };
                let user = format!("user-{rights}");
                vhost.user(&user, &all(0, 1), &all(2, 3), &all(4, 5));
                let address = format!("amqp://{user}:{user}@127.0.0.1:{}/{}", node.amqp_port(), vhost.name());
                let limited = client(&address).await;
                let owner = client(&vhost.amqp_url()).await;
                let there = QueueDeclaration::durable(format!("there-{rights}"));
                owner.declare_queue(&there).await.unwrap();
                let queues = [
                    QueueDeclaration::durable(format!("plain-{rights}")),
                    QueueDeclaration::durable(format!("dead-{rights}")).with("x-dead-letter-exchange", "dlx"),
                    there,
                ];
                let mut session = PlanSession::new(tables(&[], &queues, &[]), settings(&limited, &vhost, false));
                assert_eq!(drive(&mut session, &limited, Width::default(), pending(), |_| {}).await, Ending::Finished);
                for (action, queue) in session.plan().actions.iter().zip(&queues) {
                    let applied = limited.declare_queue(queue).await;
                    match action.verdict {
                        Verdict::Create | Verdict::Present => assert!(applied.is_ok(), "{user} {}: {applied:?}", queue.name),
                        Verdict::Invalid => assert!(applied.is_err(), "{user} {}", queue.name),
                        Verdict::Unknown => {
                            assert_eq!(action.reason, Some(Reason::AccessRefused), "{user} {}", queue.name);
                            assert!(applied.is_err(), "{user} {}: it could have been known", queue.name);
                        }
                        other => panic!("{user} {}: {other:?}", queue.name),
                    }
                }
                for queue in &queues {
                    owner.delete_queue(&queue.name).await.unwrap();
                }
                limited.close().await;
                owner.close().await;
            }
        });
    }
}
