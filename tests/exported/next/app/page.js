'use client';
import {useEffect, useState} from 'react';

export default function Shop() {
  const [items, set] = useState([]);
  useEffect(() => { fetch('/api/items').then((r) => r.json()).then(set); }, []);
  return <main><h1>made by next</h1><ul>{items.map((i) => <li key={i}>{i}</li>)}</ul></main>;
}
